// The command line, built first where that is needed: what `npm start` and `npm run cli` call.
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { buildIfStale } from './build-if-stale.js';

buildIfStale();
const main = fileURLToPath(new URL('../dist/apps/cli/src/main.js', import.meta.url));
const child = spawn(process.execPath, [main, ...process.argv.slice(2)], { stdio: 'inherit' });
// A terminal sends Ctrl-C to both; whoever signals only this process means the child.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  process.on(signal, () => {
    if (signal !== 'SIGINT' || !process.stdin.isTTY) child.kill(signal);
  });
}
child.on('exit', (code, signal) => {
  process.exitCode = signal ? 1 : (code ?? 1);
});
