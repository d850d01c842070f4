import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { findServer, NGINX } from '../process/server-binary.js';

const PAGE = fileURLToPath(new URL('../../../docs/nginx.md', import.meta.url));

/** A real nginx in front of API processes. It uses the configuration and script in docs/nginx.md. */
export class TestNginx {
  private constructor(
    readonly port: number,
    private readonly folder: string,
    private readonly processes: ChildProcess[],
  ) {}

  /** @param servers the ports of the processes; at least one must be ready */
  static async start(port: number, servers: number[]): Promise<TestNginx> {
    if (spawnSync('curl', ['--version']).status !== 0)
      throw new Error('The script of docs/nginx.md needs curl on the PATH.');
    const { program, env } = findServer(NGINX);
    const folder = mkdtempSync(join(tmpdir(), 'tutoring-nginx-'));
    const site = block('nginx')
      .replace('/etc/nginx/tutoring.servers', join(folder, 'servers'))
      .replace('listen 80;', `listen 127.0.0.1:${port};`);
    const main = ['daemon off;', `pid ${folder}/pid;`, `error_log ${folder}/error.log;`];
    // When nginx runs as root, its workers would switch to an account that cannot enter the folder.
    if (process.getuid?.() === 0) main.push('user root;');
    const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
    const http = ['access_log off;', ...temporary.map((name) => `${name}_temp_path ${folder}/${name};`), site];
    writeFileSync(
      join(folder, 'nginx.conf'),
      `${main.join('\n')}\nevents { worker_connections 4096; }\nhttp {\n${http.join('\n')}\n}\n`,
    );
    writeFileSync(join(folder, 'servers'), `server 127.0.0.1:${servers[0]}; `);
    // The script calls this wrapper as `nginx`; its own PATH must not contain the wrapper.
    const command = [program, '-p', folder, '-c', join(folder, 'nginx.conf')];
    writeFileSync(
      join(folder, 'nginx'),
      `#!/bin/sh\nPATH='${process.env.PATH}' exec ${command.join(' ')} "$@" 2>>${folder}/stderr\n`,
    );
    writeFileSync(join(folder, 'watch'), block('sh'));
    for (const name of ['nginx', 'watch']) chmodSync(join(folder, name), 0o755);
    const environment = { ...process.env, ...env, PATH: `${folder}:${process.env.PATH}` };
    const addresses = servers.map((server) => `127.0.0.1:${server}`);
    const options = { env: environment, stdio: 'ignore' } as const;
    const nginx = spawn(join(folder, 'nginx'), options);
    const started = new TestNginx(port, folder, [nginx]);
    while (!(await listens(port))) {
      if (nginx.exitCode !== null) throw new Error(`nginx ended: ${readFileSync(join(folder, 'stderr'), 'utf8')}`);
      await sleep(50);
    }
    started.processes.push(spawn(join(folder, 'watch'), [join(folder, 'servers'), ...addresses], options));
    return started;
  }

  /** Resolves when exactly these servers get requests. */
  async until(servers: number[]): Promise<void> {
    const list = servers.map((server) => `server 127.0.0.1:${server}; `).join('');
    while (readFileSync(join(this.folder, 'servers'), 'utf8') !== list) await sleep(50);
    // Leaves time for the reload that follows.
    await sleep(300);
  }

  /** Lines of nginx's error log, without the requests that they name. */
  get complaints(): string[] {
    const lines = readFileSync(join(this.folder, 'error.log'), 'utf8').split('\n');
    return lines.filter(Boolean).map((line) => line.replace(/, client: .*/, ''));
  }

  async stop(): Promise<void> {
    for (const child of this.processes.reverse()) {
      if (child.exitCode !== null) continue;
      child.kill('SIGTERM');
      await new Promise((resolve) => child.once('exit', resolve));
    }
    rmSync(this.folder, { recursive: true, force: true });
  }
}

function listens(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      resolve(true);
      socket.destroy();
    });
    socket.on('error', () => resolve(false));
  });
}

/** The page's first code block in this language. */
function block(language: string): string {
  const found = new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\``, 'ms').exec(readFileSync(PAGE, 'utf8'));
  if (!found) throw new Error(`docs/nginx.md has no block of ${language}`);
  return found[1]!;
}
