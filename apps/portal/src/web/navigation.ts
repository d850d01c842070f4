import { Injectable } from '@nestjs/common';
import { AREAS, BELONGS, type NavigationEntry } from './access.decorators.js';
import { RouteTable } from './route-table.js';
import type { Membership } from './sessions.js';

export interface NavigationLink {
  label: string;
  href: string;
  /** Whether the current page belongs to it. */
  current: boolean;
}

type Entry = NavigationEntry & { path: string; access: keyof typeof BELONGS };

/** Where somebody's own pages are. */
const OWN = '/my/';

/** The areas of an organization, and the pages of the current one. */
export interface Menu {
  areas: NavigationLink[];
  /** Empty if the area has one page, or none is current. */
  tabs: NavigationLink[];
}

/** The areas of an organization and their pages, in their order. */
@Injectable()
export class Navigation {
  private entries: Entry[] | undefined;

  constructor(private readonly routes: RouteTable) {}

  /** Those of the organization on its pages, and somebody's own on theirs. */
  of(membership: Membership, path: string): Menu {
    this.entries ??= this.routes
      .routes()
      .flatMap(({ path: template, navigation, access }) =>
        navigation && access && access in BELONGS
          ? [{ path: template, access: access as keyof typeof BELONGS, ...navigation }]
          : [],
      )
      .sort((a, b) => a.order - b.order);
    const own = path.startsWith(OWN);
    const links = this.entries
      .filter((entry) => entry.path.startsWith(OWN) === own && BELONGS[entry.access](membership))
      // Shown only where the organization shares it.
      .filter(({ area }) => area !== 'Learning' || membership.sharesLearning)
      .map((entry) => ({ ...entry, href: entry.path.replace(':slug', membership.slug) }));
    // The entry with the longest path that the current page is below. Every path begins with Home's, so Home counts only for itself.
    const [nearest] = links
      .filter(({ area, href }) => path === href || (area !== 'Home' && path.startsWith(`${href}/`)))
      .sort((a, b) => b.href.length - a.href.length);
    const areas = AREAS.flatMap((area) => {
      const first = links.find((link) => link.area === area);
      return first ? [{ label: area, href: first.href, current: nearest?.area === area }] : [];
    });
    const tabs = links
      .filter(({ area }) => area === nearest?.area)
      // The first is the page of the area, and not of all that is below it.
      .map(({ label, href }, at) => ({ label, href, current: href === nearest!.href && (at > 0 || path === href) }));
    return { areas, tabs: tabs.length > 1 ? tabs : [] };
  }
}
