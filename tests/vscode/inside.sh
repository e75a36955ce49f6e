#!/bin/sh
# Stands in for the server inside a package: the program that the test names. A build for tests is too large to pack each time.
exec "$ROPEWALK_INSIDE" "$@"
