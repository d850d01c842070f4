import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { Result } from 'axe-core';
import { type Browser, chromium, type Page } from 'playwright-core';
import { browserOptions } from './chromium.js';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Keeps the browser from contacting anything but the portal. */
const ARGS = [
  '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
  '--disable-component-update', '--disable-sync',
]; // prettier-ignore

const HEIGHT = 900;

/** How long to wait for a page (ms). */
const PATIENCE = 120_000;

interface Visit {
  /** The Cookie header of somebody who is signed in. */
  cookie?: string;
  width?: number;
  colorScheme?: 'light' | 'dark';
  javaScript?: boolean;
}

/** A real Chromium. */
export class TestBrowser {
  private constructor(private readonly browser: Browser) {}

  static async start(): Promise<TestBrowser> {
    return new TestBrowser(await chromium.launch({ ...(await browserOptions()), args: ARGS, headless: true }));
  }

  /** Opens a page with a fresh profile; {@link stop} closes it. */
  async visit(portal: { url: string }, { cookie, width = 1280, colorScheme = 'light', javaScript = true }: Visit = {}): Promise<Page> {
    const context = await this.browser.newContext({
      baseURL: portal.url,
      viewport: { width, height: HEIGHT },
      colorScheme,
      javaScriptEnabled: javaScript,
    });
    // Playwright's 30 s are too short on a loaded machine.
    context.setDefaultTimeout(PATIENCE);
    if (cookie) {
      const cookies = cookie.split('; ').map((pair) => pair.split('='));
      await context.addCookies(cookies.map(([name = '', value = '']) => ({ name, value, url: portal.url })));
    }
    return context.newPage();
  }

  async stop(): Promise<void> {
    await this.browser.close();
  }
}

/** Gives the page its own virtual authenticator, which always confirms the user's presence. */
export async function addAuthenticator(page: Page): Promise<void> {
  const client = await page.context().newCDPSession(page);
  await client.send('WebAuthn.enable');
  await client.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
}

/** The widths and colour schemes in which pages are checked. */
const LOOKS = [
  { width: 320, colorScheme: 'light' },
  { width: 390, colorScheme: 'dark' },
  { width: 1440, colorScheme: 'light' },
  { width: 1440, colorScheme: 'dark' },
] as const;

type Look = (typeof LOOKS)[number];

/** A folder for pictures of the pages, if set. */
const SCREENSHOTS = process.env.PORTAL_SCREENSHOTS;

/** One look of each scheme, of which one is narrow and one is wide. */
const TWO = [LOOKS[0], LOOKS[3]];

/** One look: enough for a page whose parts other pages show in the others. */
export const lookOf = (number: number): readonly Look[] => [LOOKS[number % LOOKS.length]!];

/** Leaves two of the items of each list that differ in nothing but texts and addresses: axe takes its time for each. */
const FEWER = `for (const list of document.querySelectorAll('ul, ol, tbody, select')) {
  const seen = new Map();
  for (const item of [...list.children]) {
    const shape = item.outerHTML.replaceAll(/>[^<]*</g, '><').replaceAll(/ (?!class)[\\w-]+="[^"]*"/g, '');
    seen.set(shape, (seen.get(shape) ?? 0) + 1);
    if (seen.get(shape) > 2) item.remove();
  }
}`;

/**
 * What axe finds wrong with the open page in these looks, and whether it scrolls sideways in any width. The page needs
 * JavaScript.
 *
 * @param fewer whether long lists may be cut short
 */
export async function faultsOf(page: Page, name = 'page', looks: readonly Look[] = TWO, fewer = false): Promise<string[]> {
  const faults: string[] = [];
  const lookAs = async ({ width, colorScheme }: Look, find: () => Promise<string[]>) => {
    // Changing the window is faster than loading the page again.
    await page.setViewportSize({ width, height: HEIGHT });
    await page.emulateMedia({ colorScheme });
    faults.push(...(await find()).map((fault) => `${width} px, ${colorScheme}: ${fault}`));
  };
  // Colours change no width.
  for (const look of SCREENSHOTS ? LOOKS : LOOKS.slice(0, 3)) {
    const { width, colorScheme } = look;
    await lookAs(look, async () => {
      const beyond = await page.evaluate<number>('document.documentElement.scrollWidth - document.documentElement.clientWidth');
      return beyond > 0 ? [`${beyond} px too wide`] : [];
    });
    if (SCREENSHOTS) {
      const path = join(SCREENSHOTS, `${name.replaceAll(/\W+/g, '-')}-${width}-${colorScheme}.png`);
      await page.screenshot({ path, fullPage: true });
    }
  }
  if (fewer) await page.evaluate(FEWER);
  for (const look of looks) await lookAs(look, () => axeFaults(page));
  return faults;
}

/** Describes what axe finds wrong with the open page: only findings of these impacts, if any are given. Needs JavaScript. */
export async function axeFaults(page: Page, impacts?: string[]): Promise<string[]> {
  // Not added as a script element: the page's policy allows only the portal's own scripts.
  if (!(await page.evaluate<boolean>('"axe" in globalThis'))) await page.evaluate(AXE);
  // Fetching style sheets anew and naming elements takes a third of the time, for rules that are off and for what nobody reads.
  const options = '{ resultTypes: ["violations"], preload: false, selectors: false }';
  const violations = await page.evaluate<Result[]>(`axe.run(${options}).then(({ violations }) => violations)`);
  const counted = violations.filter(({ impact }) => !impacts || impacts.includes(impact ?? ''));
  return counted.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' | ')}`);
}
