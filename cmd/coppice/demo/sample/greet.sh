#!/bin/sh
# The sample program: greets the person who is named.
name=${1:-world}
echo "hello, $name"
