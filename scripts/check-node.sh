# `npm start` runs this first. The Node that npm installs needs glibc. Without glibc (Alpine), the shell would only say
# "node: not found", or silently use the machine's own Node.
[ ! -e node_modules/.bin/node ] || node_modules/.bin/node --version >/dev/null 2>&1 && exit
echo "The Node that npm installed does not run on this machine: it needs glibc 2.28 or later. To use your own Node: rm node_modules/.bin/node" >&2
exit 1
