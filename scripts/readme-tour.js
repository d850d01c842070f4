// Runs the calls of the README and the pages below against a real `npm start`, and compares what they print with what the
// pages show. `--write` replaces output that differs. After a fence of commands (```sh), a fence ```json or ```text holds their output. If marked
// `example`, it shows demo rows, which change from day to day, so only their form is compared.
//
// usage: node scripts/readme-tour.js [--write] [PAGE …]
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { buildIfStale } from './build-if-stale.js';

/** What a run without arguments reads, in one shell. */
const PAGES = ['README.md', 'docs/tour.md', 'docs/term.md', 'docs/events.md', 'docs/webhooks.md'];
const root = fileURLToPath(new URL('..', import.meta.url));
const FENCE = /^```(sh|json|text)( example)?\n([^]*?)^```$/gm;
const SHOWN = {
  base: 'http://localhost:3000',
  portal: 'http://localhost:3001',
  data: '/home/you/tutoring-api/.data',
  key: 'tk_live_…',
  password: 'k7mp-…',
  receiver: '4567',
};
const KEY = /tk_live_[0-9a-f]{64}/g;
const WIDTH = 116;
/** Ends what runs in the background of the shell: dash shows its jobs only in the shell itself. */
const END_JOBS = `trap 'jobs -p > "$CURL_HOME/jobs"; kill $(cat "$CURL_HOME/jobs") 2> /dev/null' EXIT`;
/** Marks the end of a fence's output. */
const END = '\x1e';

/** The fences of a page, with the positions of their text. */
function fencesOf(file) {
  const page = readFileSync(file, 'utf8');
  return [...page.matchAll(FENCE)].map(({ 0: fence, 1: language, 2: example, 3: text, index }) => ({
    file,
    language,
    example: Boolean(example),
    text,
    at: index + fence.indexOf('\n') + 1,
    line: page.slice(0, index).split('\n').length,
  }));
}

/** Runs the service with its own data, whatever `.env` says. `use` gets its output and environment. */
async function withService(use) {
  const folder = mkdtempSync(join(tmpdir(), 'tutoring-readme-'));
  // As root, PostgreSQL runs as another account, which must be able to enter the folder.
  chmodSync(folder, 0o755);
  writeFileSync(join(folder, '.curlrc'), 'no-progress-meter\n');
  const settings = readFileSync(join(root, '.env.example'), 'utf8').matchAll(/^([A-Z0-9_]+)=/gm);
  const own = { DATA_DIR: join(folder, 'data'), PORT: '0', CURL_HOME: folder };
  const env = { ...process.env, ...Object.fromEntries([...settings].map(([, name]) => [name, ''])), ...own };
  const service = spawn(process.execPath, ['scripts/run.js', 'start'], {
    cwd: root,
    env,
    stdio: ['ignore', 'pipe', 2],
  });
  const ended = new Promise((resolve) => service.once('exit', resolve));
  const stop = () => service.kill('SIGINT');
  process.once('SIGINT', stop).once('SIGTERM', stop);
  try {
    let banner = '';
    for await (const chunk of service.stdout.iterator({ destroyOnReturn: false })) {
      banner += chunk;
      if (banner.includes('Ready in')) break;
    }
    if (!banner.includes('Ready in')) throw new Error('npm start ended before it was ready');
    service.stdout.resume();
    return await use(banner, env);
  } finally {
    stop();
    await ended;
    rmSync(folder, { recursive: true, force: true });
  }
}

/** A port that nobody uses, for the receiver of webhooks. */
async function freePort() {
  const server = createServer().listen(0);
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  return String(port);
}

/** The output of each fence of commands. They run one after another in the same shell. */
async function outputsOf(commands, banner, env) {
  const [base] = /http:\S+/.exec(banner);
  const [key] = banner.match(KEY);
  const [, portal] = /Portal +(\S+)/.exec(banner);
  const [, password] = /^ {4}owner +\S+@\S+ +(\S+)$/m.exec(banner);
  const receiver = await freePort();
  const typed = commands.map((text) => {
    // The first fence prints the banner. Also runs the curl command that the banner suggests.
    if (text.includes('npm start')) return `${/^ *curl .*$/m.exec(banner)[0]} -w '\\n'\n`;
    return text.replaceAll(SHOWN.base, base).replaceAll(SHOWN.key, key).replaceAll(SHOWN.receiver, receiver);
  });
  const script = typed.map((text) => `${text}printf '\\036'\n`).join('');
  const { stdout } = await promisify(execFile)('sh', ['-c', `exec 2>&1\n${END_JOBS}\n${script}`], {
    cwd: root,
    // Folders that the pages make go with the service's.
    env: { ...env, TMPDIR: env.CURL_HOME },
  });
  // Links in responses contain the configured port.
  const shown = (text) =>
    text
      .replaceAll('http://localhost:0/', `${base}/`)
      .replaceAll(`localhost:${receiver}`, `localhost:${SHOWN.receiver}`)
      .replaceAll(base, SHOWN.base)
      .replaceAll(portal, SHOWN.portal)
      .replaceAll(password, SHOWN.password)
      .replaceAll(env.DATA_DIR, SHOWN.data)
      .replaceAll(KEY, SHOWN.key)
      .replaceAll('\r', '');
  return { banner: shown(banner), outputs: stdout.split(END).map(shown) };
}

/** Formats output for a page: JSON in few lines, only the first row of a list, only the start of long text. */
function render(output) {
  const lines = output.replace(/^\n+|\s+$/g, '').split('\n');
  return `${lines.map((line) => (/^[[{]/.test(line) ? layout(elided(JSON.parse(line))) : withoutTokens(line))).join('\n')}\n`;
}

/** Removes ids and secrets, which only programs need. */
function withoutTokens(text) {
  return text.replace(/[\w-]{24,}/g, (token) => `${token.slice(0, 8)}…`);
}

function elided(value) {
  if (typeof value === 'string') {
    const short = withoutTokens(value);
    return short.length > 80 && short.includes(' ') ? short.replace(/^(.{60}\S*).*$/s, '$1 …') : short;
  }
  if (value === null || typeof value !== 'object') return value;
  if (Array.isArray(value)) return value.map(elided);
  const { data } = value;
  const cut = Array.isArray(data) && data.length > 1 ? { ...value, data: [data[0], '…'] } : value;
  return Object.fromEntries(Object.entries(cut).map(([name, it]) => [name, elided(it)]));
}

/** Formats JSON in as few lines as possible; each record of a list gets its own. `column` is where the text starts. */
function layout(value, column = 0) {
  const compact = JSON.stringify(value).replaceAll('"…"', '…');
  if (column + compact.length <= WIDTH || value === null || typeof value !== 'object') return compact;
  const isArray = Array.isArray(value);
  const items = Object.entries(value).map(([name, it]) => {
    const label = isArray ? '' : `"${name}":`;
    return label + layout(it, column + 1 + label.length);
  });
  let text = isArray ? '[' : '{';
  let room = WIDTH - column - 1;
  for (const [index, item] of items.entries()) {
    const [first] = item.split('\n');
    const wraps = index > 0 && (first.length + 1 > room || (isArray && item.startsWith('{')));
    if (index > 0) text += wraps ? `,\n${' '.repeat(column + 1)}` : ',';
    if (wraps) room = WIDTH - column - 1;
    text += item;
    // Starts a new line after a record that takes several lines.
    room = item === first ? room - item.length - 1 : 0;
  }
  return text + (isArray ? ']' : '}');
}

/** What must be equal: everything except ids, times, secrets and join codes and, in examples, the rows' values. */
function essence({ language, example }, text) {
  if (example && language === 'text')
    return text
      .split('\n')[0]
      .replaceAll(/\s+/g, ' ')
      .replaceAll(/[\w-]*…/g, '…');
  const same = text
    .replace(/^ +Data .*$/m, '')
    .replaceAll(/\s+/g, '')
    .replaceAll(/[\w-]*…/g, '…')
    .replaceAll(/\d{4}-\d\d-\d\d(T?\d\d:\d\d[\d:.]*(Z|[+-]\d\d:\d\d)?)?/g, '<time>')
    .replaceAll(/\b[0-9A-Z]{12}\b/g, '<code>')
    .replaceAll(/Readyin[\d.]+s/g, 'Ready');
  return example ? same.replaceAll(/:("(\\.|[^"\\])*"|-?[\d.]+|null|true|false)/g, ':*') : same;
}

const given = process.argv.slice(2).filter((argument) => !argument.startsWith('--'));
const files = given.length > 0 ? given : PAGES.map((name) => join(root, name));
const write = process.argv.includes('--write');
await buildIfStale();
const fences = files.flatMap(fencesOf);
const commands = fences.filter(({ language }) => language === 'sh');
const { banner, outputs } = await withService((printed, env) =>
  outputsOf(
    commands.map(({ text }) => text),
    printed,
    env,
  ),
);
const faults = [];
for (const [index, fence] of [...fences.entries()].reverse()) {
  if (fence.language === 'sh') {
    const output = outputs[commands.indexOf(fence)];
    const answered = fences[index + 1] && fences[index + 1].language !== 'sh';
    if (!answered && /"(error|detail)":|not found|rror:/.test(output))
      faults.unshift(`${fence.file}, line ${fence.line}: ${output}`);
    continue;
  }
  const command = fences.slice(0, index).findLastIndex(({ language }) => language === 'sh');
  const real = render(fence.text.includes('Ready in') ? banner : outputs[commands.indexOf(fences[command])]);
  if (essence(fence, real) === essence(fence, fence.text)) continue;
  faults.unshift(`${fence.file}, line ${fence.line} shows\n\n${fence.text}\nand the service answers\n\n${real}`);
  if (!write) continue;
  // From the last fence to the first, so that positions stay valid.
  const page = readFileSync(fence.file, 'utf8');
  writeFileSync(fence.file, page.slice(0, fence.at) + real + page.slice(fence.at + fence.text.length));
}
for (const fault of faults) process.stdout.write(`${fault}\n`);
process.exitCode = faults.length > 0 && !write ? 1 : 0;
