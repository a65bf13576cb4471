#!/bin/sh
# The sample program: greets whoever is named.
name=${1:-world}
echo "hello, $name"
