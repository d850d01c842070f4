import type { DemoLogin } from './first-start.js';

/** What `npm start` prints when everything runs. */
export interface Banner {
  url: string;
  portal: string;
  /** Who can sign in to the portal; empty without a demo organization. */
  logins: DemoLogin[];
  data: string;
  logs: string;
  mail: string;
  /** The first key, which is shown only once; null if it was shown before. */
  key: string | null;
  /** The slug of the organization that the key is for. */
  organization: string;
  seconds: number;
}

export function bannerText(banner: Banner): string {
  const { url, portal, logins, data, logs, mail, key, organization, seconds } = banner;
  const access = key
    ? [
        `  Your read-only API key for the organization "${organization}", shown only once:`,
        '',
        `    ${key}`,
        '',
        '  Try it:',
        '',
        `    curl -H 'Authorization: Token token=${key}' '${url}/v1/students?limit=3'`,
      ]
    : [
        '  Keys are shown only once, when they are created. To create another:',
        '',
        `    npm run --silent cli -- key create --org ${organization} --name laptop`,
      ];
  return [
    '',
    `  Tutoring API   ${url}`,
    `  Docs           ${url}/docs`,
    `  Portal         ${portal}`,
    `  Data           ${data}`,
    `  Logs           ${logs}`,
    `  Mail           ${mail}`,
    '',
    ...access,
    '',
    ...signInLines(logins, organization),
    '',
    `  Ready in ${seconds.toFixed(1)} s. Ctrl-C stops everything.`,
    '',
    '',
  ].join('\n');
}

function signInLines(logins: DemoLogin[], organization: string): string[] {
  if (logins.length === 0) {
    return [
      '  Create an owner, who can then sign in to the portal:',
      '',
      `    npm run --silent cli -- owner create --org ${organization} --email you@example.org`,
    ];
  }
  const width = Math.max(...logins.map(({ email }) => email.length));
  const lines = logins.map(({ role, email, password }) =>
    [`    ${role.padEnd(6)}`, email.padEnd(width), password ?? 'the password set in the portal'].join('   '),
  );
  return [`  Sign in to the portal as somebody of "${organization}":`, '', ...lines];
}
