import { setImmediate as pause } from 'node:timers/promises';
import { Fault, Faults } from '@app/fields';
import { ValidationFailed } from '../errors/api-error.js';

/** More than any valid request needs; much deeper nesting would overflow the stack of recursive readers. */
const MOST_DEPTH = 32;

/**
 * Members and items in total. The largest valid request, 100 students with their parents, has 1,200. JSON.parse takes
 * up to 1.6 µs for each and blocks the event loop: a megabyte of them would take 0.2 s.
 */
const MOST_MEMBERS = 10_000;

/** Characters to examine before yielding to the event loop. */
const STRETCH = 65_536;

/**
 * Parses a JSON body. A large one is examined in chunks, so that other requests are served in between.
 *
 * @param declared names of the request class; if a body has too many members, other names are reported
 * @throws ValidationFailed for invalid UTF-8 or JSON, or more nesting or members than any valid request has
 */
export async function parseJson(bytes: Buffer, declared: ReadonlySet<string>): Promise<unknown> {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw invalid('The body is not valid UTF-8.');
  }
  const found = await survey(text);
  if (found.depth > MOST_DEPTH) throw invalid(`The body must not be nested deeper than ${MOST_DEPTH} levels.`);
  if (found.members > MOST_MEMBERS) throw await tooMany(text, found, declared);
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw invalid('The body is not valid JSON.');
  } finally {
    if (text.length > STRETCH) await pause();
  }
}

interface Survey {
  depth: number;
  members: number;
  /** The top-level name, as written, whose value contains the first excess member; empty in a list. */
  fullest: string;
}

/**
 * Counts nesting and members outside of strings, without recursion. Each opening bracket and each comma begins a member
 * or an item.
 *
 * @param onName is given each name of the outermost object as it is written, quotes included
 */
async function survey(text: string, onName?: (written: string) => void): Promise<Survey> {
  let [depth, deepest, members] = [0, 0, 0];
  let inString = false;
  let [start, end] = [0, 0];
  let [name, fullest] = ['', ''];
  let next = STRETCH;
  for (let at = 0; at < text.length; at++) {
    if (at >= next) {
      next = at + STRETCH;
      await pause();
    }
    const code = text.charCodeAt(at);
    if (inString) {
      if (code === 0x5c) at++;
      else if (code === 0x22) [inString, end] = [false, at + 1];
    } else if (code === 0x22) [inString, start] = [true, at];
    else if (code === 0x2c || code === 0x7b || code === 0x5b) {
      if (++members === MOST_MEMBERS + 1) fullest = name;
      if (code !== 0x2c) deepest = Math.max(deepest, ++depth);
    } else if (code === 0x7d || code === 0x5d) depth--;
    else if (code === 0x3a && depth === 1) {
      name = text.slice(start, end);
      onName?.(name);
      start = end;
    }
  }
  return { depth: deepest, members, fullest };
}

/** The undeclared names; if there are none, the name whose value has too many members. */
async function tooMany(text: string, { fullest }: Survey, declared: ReadonlySet<string>): Promise<ValidationFailed> {
  const unknown = new Faults();
  await survey(text, (written) => {
    const name = nameOf(written);
    if (!declared.has(name)) unknown.add(Fault.unknown(name, declared), 'body');
  });
  if (unknown.count > 0) return ValidationFailed.of(unknown);
  const msg = `The body must not have more than ${MOST_MEMBERS} members and items in total.`;
  return new ValidationFailed([{ loc: ['body', ...(fullest ? [nameOf(fullest)] : [])], msg, type: 'too_long' }]);
}

function nameOf(written: string): string {
  if (written !== '' && !written.includes('\\')) return written.slice(1, -1);
  try {
    return JSON.parse(written) as string;
  } catch {
    throw invalid('The body is not valid JSON.');
  }
}

function invalid(msg: string): ValidationFailed {
  return new ValidationFailed([{ loc: ['body'], msg, type: 'json_invalid' }]);
}
