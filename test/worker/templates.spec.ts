import { EMAIL_KINDS, type KeyInMail } from '@app/jobs';
import { KEY_IN_MAIL, PAYLOAD } from '../support/worker/mail-payload.js';
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
    [...declarations.matchAll(/(?<![\w-])(color|background-color):\s*(#[0-9a-f]{6})/g)].map(([, name, value]) => [name!, value!]),
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

describe.each(EMAIL_KINDS)('the mail "%s"', (kind) => {
  it('names the organization in its subject and both texts', () => {
    const mail = render(kind, PAYLOAD);
    for (const part of [mail.subject, mail.text, mail.html]) expect(part).toContain('Brighter Days');
  });

  it('prints the link as text, and links to nothing else', () => {
    const { text, html } = render(kind, PAYLOAD);
    expect(text.split('\n')).toContain(PAYLOAD.joinUrl);
    expect(html).toContain(`>${PAYLOAD.joinUrl}</a>`);
    const links = [...html.matchAll(/(?:href|src|action|background)="([^"]*)"/g)].map(([, link]) => link);
    expect(new Set(links)).toEqual(new Set([PAYLOAD.joinUrl]));
    expect(html).not.toMatch(/<img|<script|<link|<iframe|url\(|@import/i);
  });

  it('says when the link expires, and greets by name if there is one', () => {
    const { text, html } = render(kind, PAYLOAD);
    for (const part of [text, html]) {
      expect(part).toMatch(/1 May 2026 at 7:30.pm AEST/);
      expect(part).toContain('Hello Ada,');
    }
    const nameless = render(kind, { ...PAYLOAD, firstName: null });
    for (const part of [nameless.text, nameless.html]) expect(part).toContain('Hello,');
  });

  it('shows names as text on one line, whatever they contain', () => {
    const hostile = {
      ...PAYLOAD,
      organizationName: `<b>"O'Hara" & Sons</b>\r\nBcc: somebody`,
      firstName: '<script>alert(1)</script>\n\nPay here',
    };
    const { subject, text, html } = render(kind, hostile);
    expect(html).not.toMatch(/<b>|<script/);
    expect(html).toContain('&lt;b&gt;&quot;O&#39;Hara&quot; &amp; Sons&lt;/b&gt; Bcc: somebody');
    expect(text).toContain(`<b>"O'Hara" & Sons</b> Bcc: somebody`);
    expect(text).toContain('Hello <script>alert(1)</script> Pay here,');
    expect(subject).not.toMatch(/[\r\n]/);
  });

  it('can be rendered for every role', () => {
    for (const role of ['tutor', 'admin', 'student', 'parent'] as const) {
      const { subject, text, html } = render(kind, { ...PAYLOAD, role });
      for (const part of [subject, text, html]) expect(part).not.toMatch(/undefined|null|\[object|<%/);
    }
  });
});

describe('a mail about an API key', () => {
  const KINDS = EMAIL_KINDS.filter((kind) => kind.startsWith('key_'));
  const both = (kind: (typeof KINDS)[number], key: Partial<KeyInMail> = {}) => {
    const { text, html } = render(kind, { ...PAYLOAD, expiresAt: null, key: { ...KEY_IN_MAIL, ...key } });
    return [text, html.replaceAll('&quot;', '"')];
  };

  it.each(KINDS)('%s shows its name and its first and last characters', (kind) => {
    for (const part of both(kind)) {
      expect(part).toContain('“Website”');
      expect(part).toContain('tk_live_5961…d7f5');
    }
  });

  it('says who did what, and what it means', () => {
    for (const part of both('key_created')) {
      expect(part).toContain('Olive Owner created the API key');
      expect(part).toContain('Its scopes: read, payments:write. It works until Tuesday 30 June 2026');
    }
    for (const part of both('key_created', { scopes: ['read'], expiresAt: null, by: null })) {
      expect(part).toContain('An operator of this service created the API key');
      expect(part).toContain('It is read-only. It does not expire.');
    }
    for (const part of both('key_replaced')) {
      expect(part).toContain('The new key is tk_live_0af1…93be. The old key, tk_live_5961…d7f5, works until Tuesday');
    }
    for (const part of both('key_replaced', { expiresAt: null })) expect(part).toContain('no longer works.');
    for (const part of both('key_revoked')) expect(part).toContain('now refused');
    for (const part of both('key_expiring')) {
      expect(part).toMatch(/expires on Tuesday 30 June 2026 at 11:59.pm AEST. It was last used on Thursday 30 April 2026/);
    }
    for (const part of both('key_expiring', { lastUsedAt: null })) expect(part).toContain('It has never been used.');
  });
});

it('a mail about a new browser names it and the time', () => {
  const bodyOf = (browser: string) => render('new_browser_sign_in', { ...PAYLOAD, signIn: { browser, at: '2026-05-01T09:30:00.000Z' } }).text;
  expect(bodyOf('Firefox on Windows')).toMatch(
    /Somebody signed in to your account at Brighter Days on Friday 1 May 2026 at 7:30.pm AEST, with Firefox on Windows\./,
  );
  expect(bodyOf('Another browser on Linux')).toContain('with another browser on Linux.');
});

it('every kind has its own subject', () => {
  expect(new Set(EMAIL_KINDS.map((kind) => render(kind, PAYLOAD).subject)).size).toBe(EMAIL_KINDS.length);
});

describe('the colours of a mail', () => {
  it.each(['light', 'dark'] as const)('have enough contrast in the %s colour scheme', (scheme) => {
    for (const kind of EMAIL_KINDS) {
      const { html } = render(kind, PAYLOAD);
      const texts = shown(html, scheme);
      expect(texts.length).toBeGreaterThan(3);
      for (const { color, 'background-color': background } of texts) {
        expect([kind, color, background, contrast(color, background) >= LEAST]).toEqual([kind, color, background, true]);
      }
    }
  });

  it('are dark in a dark colour scheme', () => {
    const { html } = render('account_created', PAYLOAD);
    const page = (scheme: 'light' | 'dark') => luminance(shown(html, scheme)[0]!['background-color']);
    expect(page('light')).toBeGreaterThan(0.9);
    expect(page('dark')).toBeLessThan(0.1);
  });
});
