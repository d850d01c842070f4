import { EMAIL_KINDS } from '@app/jobs';
import { plainName } from '../../apps/worker/src/email/names.js';
import { render } from '../../apps/worker/src/email/templates.js';
import { KEY_IN_MAIL, PAYLOAD } from '../support/worker/mail-payload.js';

const JOIN = PAYLOAD.joinUrl!;

const HOSTS = [
  'evil.com', 'EVIL.CoM', 'evil.co.uk', 'sub.evil.xyz', 'evil.рф', 'пример.рф', '例え.jp', '💩.la',
  'xn--80ak6aa92e.com', '192.168.0.1',
]; // prettier-ignore
/** Other forms of the dot, and characters that may hide one. */
const DOTS = [
  '.', '\u3002', '\uff0e', '\uff61', '\u2024', '\ufe52', '\u200b.', '.\u200b', '\u00ad.\u00ad', '.\u2060', '.\ufeff',
  '..',
]; // prettier-ignore
const AROUND: ((host: string) => string)[] = [
  (host) => host,
  (host) => `www.${host}`,
  (host) => `WWW2.${host}`,
  (host) => `http://${host}`,
  (host) => `https://${host}/login?next=%2F#top`,
  (host) => `HtTpS:\\\\${host}`,
  (host) => `https:/${host}`,
  (host) => `ftp://user:pw@${host}:21/`,
  (host) => `//${host}`,
  (host) => `${host}/login`,
  (host) => `${host}:8080`,
  (host) => `${host}?q=1`,
  (host) => `${host}#x`,
  (host) => `mailto:pay@${host}`,
  (host) => `pay@${host}`,
  (host) => `(${host})`,
  (host) => `<${host}>`,
  (host) => `"${host}",`,
  (host) => `a\u202e${host}\u202c`,
  (host) => `\u2066${host}\u2069`,
  (host) => `Click\n\nhttp://${host}\n`,
  (host) => `Click\u2028${host}`,
  (host) => `h\u200bttp://${host}`,
  (host) => `\uff48ttps\uff1a\uff0f\uff0f${host}`,
];
const OTHERS = [
  'javascript:alert(1)', 'tel:+61399999999', 'sms:123', 'data:text/html,x', 'http://localhost/x', 'https://evil',
  'evil/../.com', 'http://[::1]/', 'x://y',
]; // prettier-ignore

const NAMES = [
  ...AROUND.flatMap((around) => HOSTS.map(around)),
  ...DOTS.flatMap((dot) => AROUND.map((around) => around(`evil${dot}com`))),
  ...OTHERS,
];

/** What a mail program searches for links: the parts of a mail without its own link. */
function shown({ subject, text, html }: ReturnType<typeof render>): string[] {
  const words = html
    .replace(/<style[^]*?<\/style>|<[^>]+>/g, ' ')
    .replace(/&(lt|gt|amp|quot|#39);/g, (entity) => ({ '&lt;': '<', '&gt;': '>', '&amp;': '&' })[entity] ?? "'");
  return [subject, text, words].map((part) => part.replaceAll(JOIN, ' '));
}

/** Anything that a mail program may turn into a link: two words joined by a dot, a scheme, an address. */
const LINK = /[^\s.][.\u3002\uff0e\uff61\u2024\ufe52]+[^\s.,]|:\/|\/\/|\\\\|\bwww\d*\./iu;
const SCHEME = /\b(?:javascript|tel|sms|data|mailto|https?|ftp):\S/iu;
const HIDDEN = /[\u0000-\u0009\u000b-\u001f\u007f]|\p{Cf}|[\u2028\u2029]/u;

describe('names in mails', () => {
  it('never look like a link, in any mail or place', () => {
    expect(NAMES.length).toBeGreaterThan(400);
    const faults: string[] = [];
    for (const [index, name] of NAMES.entries()) {
      for (const [place, whole] of [name, `Maths ${name} Tutoring`, `${name}.`, `${name} ${name}`].entries()) {
        const mail = render(EMAIL_KINDS[(index + place) % EMAIL_KINDS.length]!, {
          ...PAYLOAD,
          organizationName: whole,
          firstName: whole,
          key: { ...KEY_IN_MAIL, name: whole, by: whole },
          membership: { person: whole, by: whole, email: null, target: whole },
        });
        const links = [...mail.html.matchAll(/(?:href|src)="([^"]*)"/g)].map(([, link]) => link);
        const clean = shown(mail).every((part) => ![LINK, SCHEME, HIDDEN].some((pattern) => pattern.test(part)));
        if (!clean || links.some((link) => link !== JOIN) || mail.subject.includes('\n')) faults.push(whole);
      }
    }
    expect(faults).toEqual([]);
  });

  it.each([
    ['Brighter Days', 'Brighter Days'],
    ["O'Hara & Sons Pty. Ltd.", "O'Hara & Sons Pty. Ltd."],
    ['St. Mary’s', 'St. Mary’s'],
    ['Zoë Müller-Łuczak', 'Zoë Müller-Łuczak'],
    ['Nguyễn Thị Ánh', 'Nguyễn Thị Ánh'],
    ['山田 太郎', '山田 太郎'],
    ['محمد', 'محمد'],
    ['Maths/English', 'Maths/English'],
    ['Maths @ Home', 'Maths @ Home'],
    ['Team: Blue', 'Team: Blue'],
    ['J.R. Tolkien', 'J R. Tolkien'],
    ['Tutor.com', 'Tutor com'],
    ['Learn at https://evil.com today', 'Learn at today'],
    ['https://evil.com', ''],
  ])('%j becomes %j', (name, plain) => {
    expect(plainName(name)).toBe(plain);
  });

  it('have a fallback if nothing of a name is left', () => {
    const mail = render('organization_invite', { ...PAYLOAD, organizationName: 'www.evil.com', firstName: 'http://x' });
    expect(mail.subject).toBe('Join A tutoring organization');
    expect(mail.text).toMatch(/^Hello,$/m);
  });
});

it('a person’s name has no room for a message', () => {
  const firstName = 'parents: your child account is locked. Verify at once within 24 hours. Regards, Support';
  expect(render('organization_invite', { ...PAYLOAD, firstName }).text).toMatch(
    /^Hello parents: your child account is locked\. Verify at once withi…,$/m,
  );
});
