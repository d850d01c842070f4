/** Which people are listed. `waiting`: tutors who joined by a code, before an owner or admin has decided. */
export const STATUSES = ['accepted', 'pending', 'waiting', 'archived'] as const;
export const ROLES = ['owner', 'admin', 'tutor', 'student', 'parent'] as const;

export interface PeopleFilter {
  status: (typeof STATUSES)[number] | null;
  role: (typeof ROLES)[number] | null;
}

/** Where a page begins: after this row. */
export interface Position {
  at: Date;
  id: string;
}

/** What is not one of the values is no filter. */
export function readFilter({ status, role }: Record<string, unknown>): PeopleFilter {
  const oneOf = <T extends string>(values: readonly T[], value: unknown) => values.find((one) => one === value) ?? null;
  return { status: oneOf(STATUSES, status), role: oneOf(ROLES, role) };
}

const POSITION = /^(\d{1,15})_([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/;

/** The `after` of a link to the next page; null for the first page, and for what no link says. */
export function readPosition(after: unknown): Position | null {
  const [, ms, id] = (typeof after === 'string' && POSITION.exec(after)) || [];
  const at = new Date(Number(ms));
  return id && !Number.isNaN(at.getTime()) ? { at, id } : null;
}

/** What {@link readPosition} reads. */
export function writePosition({ at, id }: Position): string {
  return `${at.getTime()}_${id}`;
}

/** The query of the page with this filter, from this position on. */
export function queryOf({ status, role }: PeopleFilter, after: Position | null = null): string {
  const query = new URLSearchParams({
    ...(status && { status }),
    ...(role && { role }),
    ...(after && { after: writePosition(after) }),
  });
  return query.size > 0 ? `?${query.toString()}` : '';
}
