// Compares the Node that npm installed with the SHA-256 recorded in node-binaries.sha256. `--all` downloads those of the
// other platforms too, for whoever changes their versions. docs/libraries.md says how to compare them with Node's own sums.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const lines = readFileSync(join(root, 'scripts', 'node-binaries.sha256'), 'utf8')
  .trim()
  .split('\n');
const recorded = new Map(lines.map((line) => line.split('  ').reverse()));
const { optionalDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const packages = Object.entries(optionalDependencies).filter(([name]) => /^node-(bin-)?(linux|darwin)-/.test(name));
const faults = [];

/** The package as the registry has it, unpacked. npm compares it with the registry's own sums. */
function download(name, version) {
  const folder = mkdtempSync(join(tmpdir(), 'tutoring-node-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  const said = execFileSync('npm', ['pack', '--silent', `${name}@${version}`], { cwd: folder, encoding: 'utf8' });
  execFileSync('tar', ['-xzf', said.trim().split('\n').at(-1), '--strip-components=1'], { cwd: folder });
  return folder;
}

for (const [name, version] of packages) {
  const known = recorded.get(`${name}@${version}`);
  if (!known) faults.push(`${name}@${version} is not in scripts/node-binaries.sha256`);
  const installed = join(root, 'node_modules', name);
  if (!known || (!existsSync(installed) && !process.argv.includes('--all'))) continue;
  const folder = existsSync(installed) ? installed : download(name, version);
  const sum = createHash('sha256')
    .update(readFileSync(join(folder, 'bin', 'node')))
    .digest('hex');
  if (sum !== known) faults.push(`the Node of ${name}@${version} has the SHA-256 ${sum}, not ${known}`);
  else process.stdout.write(`${name}@${version}: as recorded\n`);
}
for (const fault of faults) process.stderr.write(`${fault}\n`);
process.exitCode = faults.length > 0 ? 1 : 0;
