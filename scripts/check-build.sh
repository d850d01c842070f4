# `npm run start:prod` and `start:worker` run this first. Without a build, Node would only print a stack trace.
[ -e dist/.stamp ] && exit
echo 'The service has not been built: run "npm ci && npm run build" first.' >&2
exit 1
