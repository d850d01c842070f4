import { readFileSync } from 'node:fs';
import { Eta } from 'eta';
import { load } from 'js-yaml';
import { EMAIL_KINDS, type EmailKind } from '@app/jobs';

const PARTS = ['subject', 'reason', 'action', 'otherwise'] as const;

type Words = Record<(typeof PARTS)[number], string>;

/** What the words of a mail are about: plain names, and times in words. */
export interface Subject {
  organization: string;
  /** `a tutor` */
  role: string;
  signIn: { browser: string; at: string } | null;
  membership: { person: string; by: string | null; email: string | null; target: string; notMine: boolean } | null;
  key: KeyWords | null;
}

export interface KeyWords {
  name: string;
  display: string;
  by: string;
  /** A sentence about its scopes. */
  access: string;
  expires: string | null;
  /** The day without the time. */
  expiresOn: string | null;
  successor: string;
  lastUsed: string | null;
}

const folder = new URL('../../assets/', import.meta.url);
const read = (name: string) => readFileSync(new URL(name, folder), 'utf8');

const html = new Eta({ autoEscape: true, autoTrim: false });
const text = new Eta({ autoEscape: false, autoTrim: false });
/** The words name their values in double braces, without a prefix. */
const words = new Eta({
  autoEscape: false,
  autoTrim: false,
  useWith: true,
  tags: ['{{', '}}'],
  parse: { exec: '!', interpolate: '', raw: '~' },
});

const frames = { html: html.compile(read('mail.html.eta')), text: text.compile(read('mail.txt.eta')) };
const compiled = compileWords(load(read('mails.yaml')) as Record<string, Partial<Words>>);

/** @throws Error at start if a kind of mail lacks a part, or there is one that nobody sends */
function compileWords(mails: Record<string, Partial<Words>>) {
  const unknown = Object.keys(mails).filter((kind) => !(EMAIL_KINDS as readonly string[]).includes(kind));
  if (unknown.length > 0) throw new Error(`mails.yaml has kinds of mail that nobody sends: ${unknown.join(', ')}`);
  return new Map(
    EMAIL_KINDS.map((kind) => [
      kind,
      PARTS.map((part) => {
        const template = mails[kind]?.[part];
        if (typeof template !== 'string') throw new Error(`mails.yaml lacks the ${part} of "${kind}"`);
        return [part, words.compile(template)] as const;
      }),
    ]),
  );
}

/** The words of a mail, unescaped. */
export function wordsOf(kind: EmailKind, subject: Subject): Words {
  const parts = compiled.get(kind)!.map(([part, write]) => [part, write.call(words, subject)]);
  return Object.fromEntries(parts) as Words;
}

/** The words in their frame, which escapes them where needed. */
export function inFrame(values: object): { html: string; text: string } {
  return { html: frames.html.call(html, values), text: frames.text.call(text, values) };
}
