import type { Place } from '@app/jobs';

export type { Place };

const PLACE = /^(\d{1,15})-([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/;

/** A place in a list, newest first, as the address of the next page names it: `1795305600000-<id>`. */
export const placeText = ({ at, id }: Place): string => `${at.getTime()}-${id}`;

/** Reads {@link placeText}; null for anything else, which is the first page. */
export function readPlace(text: unknown): Place | null {
  const match = typeof text === 'string' ? PLACE.exec(text) : null;
  const at = new Date(Number(match?.[1]));
  return match && !Number.isNaN(at.getTime()) ? { at, id: match[2]! } : null;
}
