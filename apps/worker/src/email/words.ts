import { readFileSync } from 'node:fs';
import { Eta } from 'eta';
import { load } from 'js-yaml';
import { EMAIL_KINDS, type EmailKind, FAMILY_KINDS, type FamilyKind, NOTICE_KINDS, type NoticeKind } from '@app/jobs';

const PARTS = ['subject', 'reason', 'action', 'otherwise'] as const;

export type Words = Record<(typeof PARTS)[number], string>;

/** What the words of a mail are about: plain names, and times in words. */
export interface Subject {
  organization: string;
  /** `a tutor` */
  role: string;
  signIn: { browser: string; at: string } | null;
  membership: { person: string; by: string | null; email: string | null; target: string; notMine: boolean } | null;
  key: KeyWords | null;
  settings: { by: string; changes: string } | null;
  webhook: { host: string; why: string } | null;
  exported: { by: string } | null;
  /** Whether whoever joined has to be approved first. */
  waits: boolean;
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
/** The mail for several notices; each of their kinds also has a `line` for it. */
const GATHERED = 'gathered_notices';

const mails = load(read('mails.yaml')) as Record<string, Record<string, string>>;
const compiled = compileWords();

/** @throws Error at start if a kind of mail lacks a part, or there is one that nobody sends */
function compileWords() {
  const kinds: string[] = [...EMAIL_KINDS, ...FAMILY_KINDS, GATHERED];
  const unknown = Object.keys(mails).filter((kind) => !kinds.includes(kind));
  if (unknown.length > 0) throw new Error(`mails.yaml has kinds of mail that nobody sends: ${unknown.join(', ')}`);
  const lines = NOTICE_KINDS.flatMap((kind) => [[kind, 'line'] as const, [kind, 'more'] as const]);
  const parts = [...kinds.flatMap((kind) => PARTS.map((part) => [kind, part] as const)), ...lines];
  return new Map(parts.map(([kind, part]) => [`${kind} ${part}`, compilePart(kind, part)]));
}

function compilePart(kind: string, part: string) {
  const template: unknown = mails[kind]?.[part];
  if (typeof template !== 'string') throw new Error(`mails.yaml lacks the ${part} of "${kind}"`);
  return words.compile(template);
}

function write(kind: string, part: string, about: object): string {
  return compiled.get(`${kind} ${part}`)!.call(words, about);
}

function partsOf(kind: string, about: object): Words {
  return Object.fromEntries(PARTS.map((part) => [part, write(kind, part, about)])) as Words;
}

/** The words of a mail, unescaped. */
export const wordsOf = (kind: EmailKind, subject: Subject): Words => partsOf(kind, subject);

/** The words of a mail to a family, unescaped. @param about the values that mails.yaml names */
export const familyWords = (kind: FamilyKind, about: object): Words => partsOf(kind, about);

/** A notice as a line of a mail that lists several, unescaped. */
export const lineOf = (kind: NoticeKind, subject: Subject): string => write(kind, 'line', subject);

/** How many more notices of a kind there were, unescaped. */
export const moreOf = (kind: NoticeKind, about: { organization: string; count: number }): string =>
  write(kind, 'more', about);

/** The words of a mail that lists several notices, unescaped. */
export const gatheredWords = (about: { organization: string; count: number }): Words => partsOf(GATHERED, about);

/** The words in their frame, which escapes them where needed. */
export function inFrame(values: object): { html: string; text: string } {
  return { html: frames.html.call(html, values), text: frames.text.call(text, values) };
}
