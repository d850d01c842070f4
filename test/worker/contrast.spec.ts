import { EMAIL_KINDS } from '@app/jobs';
import { PAYLOAD } from '../support/worker/mail-payload.js';
import { render } from '../../apps/worker/src/email/templates.js';

/** What WCAG AA requires of ordinary text: https://www.w3.org/TR/WCAG22/#contrast-minimum */
const LEAST = 4.5;

interface Colours {
  color?: string;
  'background-color'?: string;
}

function luminance(colour: string): number {
  const [red, green, blue] = [1, 3, 5].map((at) => {
    const part = parseInt(colour.slice(at, at + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red! + 0.7152 * green! + 0.0722 * blue!;
}

function contrast(one: string, other: string): number {
  const [light, dark] = [luminance(one), luminance(other)].sort((a, b) => b - a);
  return (light! + 0.05) / (dark! + 0.05);
}

const coloursIn = (declarations: string): Colours =>
  Object.fromEntries<string>(
    [...declarations.matchAll(/(?<![\w-])(color|background-color):\s*(#[0-9a-f]{6})/g)].map(([, name, value]) => [
      name!,
      value!,
    ]),
  );

/** The colours that the reader sees for every element that sets any; elements inherit the rest from the page. */
function shown(html: string, scheme: 'light' | 'dark'): Required<Colours>[] {
  const rules = /prefers-color-scheme: dark\) \{([^]*?)\n\}/.exec(html)![1]!;
  const dark = new Map([...rules.matchAll(/\.(\w+) \{([^}]*)\}/g)].map(([, name, rule]) => [name!, coloursIn(rule!)]));
  const elements = [...html.matchAll(/<(?:body|p|a)[^>]*style="([^"]*)"[^>]*>/g)].map(([tag, style]) => {
    const name = /class="(\w+)"/.exec(tag)?.[1] ?? '';
    return { ...coloursIn(style!), ...(scheme === 'dark' ? dark.get(name) : {}) };
  });
  const page = elements[0] as Required<Colours>;
  return elements.map((element) => ({ ...page, ...element }));
}

describe('a mail', () => {
  it.each(['light', 'dark'] as const)('has enough contrast in the %s colour scheme', (scheme) => {
    for (const kind of EMAIL_KINDS) {
      const { html } = render(kind, PAYLOAD);
      const texts = shown(html, scheme);
      expect(texts.length).toBeGreaterThan(3);
      for (const { color, 'background-color': background } of texts) {
        expect([kind, color, background, contrast(color, background) >= LEAST]).toEqual([
          kind,
          color,
          background,
          true,
        ]);
      }
    }
  });

  it('is dark in a dark colour scheme', () => {
    const { html } = render('account_created', PAYLOAD);
    const page = (scheme: 'light' | 'dark') => luminance(shown(html, scheme)[0]!['background-color']);
    expect(page('light')).toBeGreaterThan(0.9);
    expect(page('dark')).toBeLessThan(0.1);
  });
});
