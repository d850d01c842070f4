import type { Organization } from '@app/people';

/** Slugs by organization id. */
export type Slugs = Map<string, string>;

export function slugsOf(organizations: Organization[]): Slugs {
  return new Map(organizations.map(({ id, slug }) => [id, slug]));
}

/** The organization's slug, or its id if it no longer exists. */
export function slugOf(id: string, slugs: Slugs): string {
  return slugs.get(id) ?? id;
}

/** The slug of the organization in a target (`organization:<id>`); null for a brand. */
export function organizationIn(target: string, slugs: Slugs): string | null {
  return slugs.get(target.replace(/^organization:/, '')) ?? null;
}

/** A target for display, with the organization's slug instead of its id. */
export function inSlugs(target: string, slugs: Slugs): string {
  const slug = organizationIn(target, slugs);
  return slug === null ? target : `organization:${slug}`;
}
