# What `npm start` does first. The Node that npm installs needs glibc. Where there is none (Alpine), all that a shell would
# say is "node: not found", or it would silently take the machine's own.
[ ! -e node_modules/.bin/node ] || node_modules/.bin/node --version >/dev/null 2>&1 && exit
echo "The Node that npm installed does not run on this machine: it needs glibc 2.28. To use your own Node: rm node_modules/.bin/node" >&2
exit 1
