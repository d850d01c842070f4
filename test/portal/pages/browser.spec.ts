import { execFileSync } from 'node:child_process';
import { dirname } from 'node:path';
import { inject } from 'vitest';
import { TestBrowser } from '../../support/portal/browser.js';
import { browserOptions } from '../../support/portal/chromium.js';
import { TestPortal } from '../../support/portal/portal.js';

/** What every Linux with glibc has. */
const SYSTEM = /^(ld-linux-x86-64|lib(c|m|dl|pthread|gcc_s))\.so/;

describe.runIf(process.platform === 'linux' && process.arch === 'x64')('the browser of the tests', () => {
  it('starts where the PATH has none', async () => {
    vi.stubEnv('PATH', '/nowhere');
    const portal = await TestPortal.start();
    const browser = await TestBrowser.start();
    try {
      const page = await browser.visit(portal);
      await page.goto('/sign-in');
      expect(await page.getByRole('heading', { name: 'Sign in' }).isVisible()).toBe(true);
    } finally {
      await browser.stop();
      await portal.stop();
    }
  });

  it('brings its libraries, in a folder that the run deletes', async () => {
    const { executablePath, env } = await browserOptions();
    const folder = dirname(executablePath!);
    expect(dirname(folder)).toBe(inject('scratch'));
    const linked = execFileSync(executablePath!, { env: { ...env, LD_TRACE_LOADED_OBJECTS: '1' }, encoding: 'utf8' });
    expect(linked).toContain(`libnss3.so => ${folder}/`);
    const foreign = [...linked.matchAll(/^\s*(\S+) => (\S+)/gm)].filter(([, , path]) => !path!.startsWith(folder));
    expect(foreign.map(([, name]) => name!).filter((name) => !SYSTEM.test(name))).toEqual([]);
  });
});
