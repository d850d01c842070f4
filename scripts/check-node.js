// Everything that builds imports this first: an older Node would fail later, and in odd ways.
const OLDEST = 22;
if (Number.parseInt(process.versions.node) < OLDEST) {
  process.stderr.write(
    `A Node of your own must be ${OLDEST} or later, and this is ${process.versions.node}: npm's scripts run on the one that "npm ci" installs.\n`,
  );
  process.exit(1);
}
