import { Injectable } from '@nestjs/common';
import { RouteTable } from './route-table.js';
import type { Membership } from './sessions.js';

export interface NavigationLink {
  label: string;
  summary: string;
  href: string;
  /** Whether the current page belongs to it. */
  current: boolean;
}

/** The areas of an organization, in their order. */
@Injectable()
export class Navigation {
  private entries: { path: string; label: string; summary: string }[] | undefined;

  constructor(private readonly routes: RouteTable) {}

  of({ slug }: Membership, path: string): NavigationLink[] {
    this.entries ??= this.routes
      .routes()
      .filter(({ navigation }) => navigation !== undefined)
      .sort((a, b) => a.navigation!.order - b.navigation!.order)
      .map((route) => ({ path: route.path, ...route.navigation! }));
    return this.entries.map(({ path: template, label, summary }) => {
      const href = template.replace(':slug', slug);
      return { label, summary, href, current: path === href || path.startsWith(`${href}/`) };
    });
  }
}
