import { operationInWords } from '@app/audit';
import type { AuditRow } from './audit.queries.js';

/** A part of a sentence; with a `filter`, a name that leads to what else its bearer did. */
export interface Part {
  text: string;
  filter?: { person: string } | { key: string };
}

type Subject = Pick<AuditRow, 'userId' | 'userName' | 'keyId' | 'keyName' | 'requestId'>;

/** Who did it. */
export function whoOf({ userId, userName, keyId, keyName, requestId }: Subject): Part {
  if (userId) return { text: named(userName), filter: { person: userId } };
  if (keyId) return { text: `API key “${keyName ?? 'deleted'}”`, filter: { key: keyId } };
  return { text: requestId === 'cli' ? 'An operator of this service' : 'This service' };
}

/** What was done, as a sentence without its subject. Codes of former versions stay as they are. */
export function whatOf(row: AuditRow): Part[] {
  const words = operationInWords(row.operation) ?? row.operation;
  return words
    .split(/(\{\w+\})/)
    .filter(Boolean)
    .map((part) => partOf(part, row));
}

/** Why it was refused; null if it was done. */
export function refusalOf({ status, result }: AuditRow): string | null {
  if (result === 'unchanged') return 'it had been done before';
  return status < 400 ? null : result.replaceAll('_', ' ');
}

export const plain = (parts: Part[]): string => parts.map(({ text }) => text).join('');

function partOf(part: string, { personId, personName, aboutKeyId, aboutKeyName, details }: AuditRow): Part {
  const slot = /^\{(\w+)\}$/.exec(part)?.[1];
  if (slot === undefined) return { text: part };
  if (slot === 'person')
    return personId ? { text: named(personName), filter: { person: personId } } : { text: 'somebody' };
  if (slot === 'key')
    return aboutKeyId ? { text: `“${aboutKeyName ?? 'deleted'}”`, filter: { key: aboutKeyId } } : { text: '' };
  const value = details[slot];
  return { text: typeof value === 'string' || typeof value === 'number' ? String(value) : 'unknown' };
}

/** Names can be empty, and are unknown of people whom the organization does not see. */
const named = (name: string | null): string => name?.trim() || 'Without a name';
