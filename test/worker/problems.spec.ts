import { readFileSync } from 'node:fs';
import { inWords, problemOf, PROBLEMS } from '@app/jobs';

const STORED = /^[a-z][a-z0-9_]{0,63}$/;
const SECRET = 'never-to-be-stored';

const failure = (fields: object, message = `at https://user:${SECRET}@host for ada@example.org`) => Object.assign(new Error(message), fields);

describe('the stored problem of a failure', () => {
  it.each([
    [failure({ code: 'EENVELOPE', responseCode: 550, response: `550 <ada@example.org> ${SECRET}` }), 'smtp_550'],
    [failure({ code: 'EMESSAGE', responseCode: 451 }), 'smtp_451'],
    [failure({ code: 'EAUTH', responseCode: 535, response: SECRET }), 'authentication_failed'],
    [failure({ code: 'ESOCKET', originalCode: 'ECONNREFUSED' }), 'connection_refused'],
    [failure({ code: 'ETIMEDOUT', timeoutType: 'GREETING_TIMEOUT' }), 'timeout'],
    [failure({ code: 'EDNS', originalCode: 'ENOTFOUND' }), 'host_not_found'],
    [failure({ code: 'ETLS' }), 'tls_failed'],
    [failure({ code: 'ENOSPC' }), 'file_not_written'],
    [new TypeError('fetch failed', { cause: failure({ code: 'ECONNREFUSED' }) }), 'connection_refused'],
    [new TypeError('fetch failed', { cause: failure({ code: 'UND_ERR_HEADERS_TIMEOUT' }) }), 'timeout'],
    [new TypeError('fetch failed', { cause: failure({ code: 'DEPTH_ZERO_SELF_SIGNED_CERT' }) }), 'tls_failed'],
    [new TypeError('fetch failed', { cause: failure({ code: SECRET }) }), 'unknown'],
    [new TypeError(`Request cannot be constructed from a URL that includes credentials: ${SECRET}`), 'unknown'],
    [failure({ code: 'EENVELOPE', responseCode: 99 }), 'message_refused'],
    [failure({ code: 'EENVELOPE', responseCode: 100 }), 'smtp_100'],
    [failure({ code: 'EENVELOPE', responseCode: 1000 }), 'message_refused'],
    [failure({ code: 'EENVELOPE', responseCode: '550' }), 'message_refused'],
    [SECRET, 'unknown'],
    [undefined, 'unknown'],
  ])('%s is stored as a code', (thrown, code) => {
    expect(problemOf(thrown)).toBe(code);
    expect(code).toMatch(STORED);
  });

  it('every code fits the column and has a description, which docs/outbox.md repeats', () => {
    const rows = Object.entries(PROBLEMS).map(([code, words]) => `| \`${code}\` | ${words} |`);
    const text = readFileSync(new URL('../../docs/outbox.md', import.meta.url), 'utf8');
    expect(text.split('\n').filter((line) => line.startsWith('| `'))).toEqual(rows);
    for (const code of Object.keys(PROBLEMS)) expect(code.replace(/<\w+>/, '550')).toMatch(STORED);
    expect(inWords('smtp_451')).toBe(PROBLEMS['smtp_<reply>']);
    expect(inWords('http_307')).toBe(PROBLEMS['http_<status>']);
    expect(inWords('no_hook')).toBe(PROBLEMS.no_hook);
    for (const other of ['anything else', 'xsmtp_451', 'smtp_451x', 'xhttp_307', 'http_307x', 'smtp_'])
      expect(inWords(other), other).toBe(PROBLEMS.unknown);
  });
});
