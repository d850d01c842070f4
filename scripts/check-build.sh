# What `npm run start:prod` and `start:worker` do first: where nothing is built, Node would show a stack of its own.
[ -e dist/.stamp ] && exit
echo 'Nothing is built here: run "npm ci && npm run build" first.' >&2
exit 1
