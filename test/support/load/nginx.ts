import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { findServer, NGINX } from '../process/server-binary.js';
import { edited, listens } from '../process/shipped.js';

const FILES = fileURLToPath(new URL('../../../docs/nginx/', import.meta.url));
const TEMPORARY = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];

/** A real nginx in front of the API and the portal, with the files in docs/nginx. */
export class TestNginx {
  private constructor(
    readonly port: number,
    private readonly folder: string,
    private readonly processes: ChildProcess[],
  ) {}

  /**
   * @param servers the ports of the API processes; at least one must be ready
   * @param connections at most this many at once, for each of nginx's workers
   * @param portal the port of the portal, to which the port after `port` leads then
   * @param moved another installation, by the address that organizations move to, and the port of its API
   */
  static async start(
    port: number,
    servers: number[],
    connections = 8_192,
    portal?: number,
    moved?: { to: string; port: number },
  ): Promise<TestNginx> {
    if (spawnSync('curl', ['--version']).status !== 0) throw new Error('tutoring-servers needs curl on the PATH.');
    const { program, env } = findServer(NGINX);
    const folder = mkdtempSync(join(tmpdir(), 'tutoring-nginx-'));
    const main = ['daemon off;', `pid ${folder}/pid;`, `error_log ${folder}/error.log;`];
    // When nginx runs as root, its workers would switch to an account that cannot enter the folder.
    if (process.getuid?.() === 0) main.push('user root;');
    const site = edited('nginx/tutoring.conf', {
      'server api:3000;': `include ${folder}/servers;`,
      'server portal:3001;': `server 127.0.0.1:${portal ?? 1};`,
      'listen 8000;': `listen 127.0.0.1:${port};`,
      'listen 8001;': `listen ${portal ? `127.0.0.1:${port + 1}` : `unix:${folder}/portal`};`,
    });
    const home = moved
      ? site.replace('# "https://api.c2.example.org" c2_api;', `"${moved.to}" c2_api;`) + `upstream c2_api { server 127.0.0.1:${moved.port}; }`
      : site;
    const http = [...TEMPORARY.map((name) => `${name}_temp_path ${folder}/${name};`), home];
    const changes = {
      'worker_connections 8192;': `worker_connections ${connections};`,
      'include /etc/nginx/conf.d/*.conf;': http.join('\n'),
    };
    writeFileSync(join(folder, 'nginx.conf'), `${main.join('\n')}\n${edited('nginx/nginx.conf', changes)}`);
    writeFileSync(join(folder, 'servers'), `server 127.0.0.1:${servers[0]}; `);
    // The script calls this wrapper as `nginx`; its own PATH must not contain the wrapper.
    const command = [program, '-p', folder, '-c', join(folder, 'nginx.conf')];
    writeFileSync(join(folder, 'nginx'), `#!/bin/sh\nPATH='${process.env.PATH}' exec ${command.join(' ')} "$@" 2>>${folder}/stderr\n`);
    chmodSync(join(folder, 'nginx'), 0o755);
    const options = {
      env: { ...process.env, ...env, PATH: `${folder}:${process.env.PATH}` },
      stdio: 'ignore',
    } as const;
    const nginx = spawn(join(folder, 'nginx'), options);
    const started = new TestNginx(port, folder, [nginx]);
    while (!(await listens(port))) {
      if (nginx.exitCode !== null) throw new Error(`nginx ended: ${readFileSync(join(folder, 'stderr'), 'utf8')}`);
      await sleep(50);
    }
    const addresses = servers.map((server) => `127.0.0.1:${server}`);
    started.processes.push(spawn(join(FILES, 'tutoring-servers'), [join(folder, 'servers'), ...addresses], options));
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
