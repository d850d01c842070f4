import { EMAIL_KINDS, type EmailPayload } from '@app/jobs';
import { render } from '../../apps/worker/src/email/templates.js';

const payload: EmailPayload = {
  organizationName: 'Brighter Days',
  timeZone: 'Australia/Melbourne',
  firstName: 'Ada',
  role: 'tutor',
  joinUrl: 'https://app.tutoring.example/join/abc_DEF-123',
  proof: null,
  expiresAt: '2026-05-01T09:30:00.000Z',
};

describe.each(EMAIL_KINDS)('the mail "%s"', (kind) => {
  it('names the organization in its subject and both texts', () => {
    const mail = render(kind, payload);
    for (const part of [mail.subject, mail.text, mail.html]) expect(part).toContain('Brighter Days');
  });

  it('prints the link as text, and links to nothing else', () => {
    const { text, html } = render(kind, payload);
    expect(text.split('\n')).toContain(payload.joinUrl);
    expect(html).toContain(`>${payload.joinUrl}</a>`);
    const links = [...html.matchAll(/(?:href|src|action|background)="([^"]*)"/g)].map(([, link]) => link);
    expect(new Set(links)).toEqual(new Set([payload.joinUrl]));
    expect(html).not.toMatch(/<img|<script|<link|<iframe|url\(|@import/i);
  });

  it('says until when the link works, and greets by name only if there is one', () => {
    const { text, html } = render(kind, payload);
    for (const part of [text, html]) {
      expect(part).toMatch(/1 May 2026 at 7:30.pm AEST/);
      expect(part).toContain('Hello Ada,');
    }
    const nameless = render(kind, { ...payload, firstName: null });
    for (const part of [nameless.text, nameless.html]) expect(part).toContain('Hello,');
  });

  it('shows what people put into names as text, on one line', () => {
    const hostile = {
      ...payload,
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

  it('fits every role', () => {
    for (const role of ['tutor', 'admin', 'student', 'parent'] as const) {
      const { subject, text, html } = render(kind, { ...payload, role });
      for (const part of [subject, text, html]) expect(part).not.toMatch(/undefined|null|\[object|<%/);
    }
  });
});

it('no two kinds say the same', () => {
  expect(new Set(EMAIL_KINDS.map((kind) => render(kind, payload).subject)).size).toBe(EMAIL_KINDS.length);
});
