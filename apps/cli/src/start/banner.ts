/** What `npm start` prints once everything runs. */
export interface Banner {
  url: string;
  data: string;
  logs: string;
  mail: string;
  /** Shown this once. */
  key: string | null;
  /** Whose key it is, or would be. */
  organization: string;
  seconds: number;
}

export function bannerText({ url, data, logs, mail, key, organization, seconds }: Banner): string {
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
    `  Data           ${data}`,
    `  Logs           ${logs}`,
    `  Mail           ${mail}`,
    '',
    ...access,
    '',
    `  Ready in ${seconds.toFixed(1)} s. Ctrl-C stops everything.`,
    '',
    '',
  ].join('\n');
}
