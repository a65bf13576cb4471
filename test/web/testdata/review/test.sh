#!/bin/sh
grep -q morning src/greet.go && echo "it greets in the morning"
