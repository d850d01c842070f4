import type { Organization } from '@app/accounts';

/** Slugs by the ids of their organizations. */
export type Slugs = Map<string, string>;

export function slugsOf(organizations: Organization[]): Slugs {
  return new Map(organizations.map(({ id, slug }) => [id, slug]));
}

/** The slug of an organization; its id when it is gone meanwhile. */
export function slugOf(id: string, slugs: Slugs): string {
  return slugs.get(id) ?? id;
}

/** What stands for an organization in a target (`organization:<id>`): its slug, null for a brand. */
export function organizationIn(target: string, slugs: Slugs): string | null {
  return slugs.get(target.replace(/^organization:/, '')) ?? null;
}

/** A target as people read it: the id of an organization says nothing to them. */
export function inSlugs(target: string, slugs: Slugs): string {
  const slug = organizationIn(target, slugs);
  return slug === null ? target : `organization:${slug}`;
}
