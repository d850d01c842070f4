import { Injectable } from '@nestjs/common';
import { DiscoveryService, MetadataScanner } from '@nestjs/core';
import { type DeclaredRoute, declaredRoutes, RouteMatcher } from '@app/routing';
import { type Access, accessOf } from '../auth/access.decorators.js';

/** A route, and who may use it. */
export interface Route extends DeclaredRoute {
  /** undefined if the route declares no access, which denies it. */
  access: Access | undefined;
}

/** What a request can match: a route, or a page that Express serves itself. */
export interface Target {
  method: string;
  path: string;
  /** Whether it needs no key. */
  public: boolean;
  /** undefined for a page. */
  handler?: object;
}

/** Every route of the running application, read from its controllers. The pipeline's specs generate their cases from it. */
@Injectable()
export class RouteTable {
  private matcher: RouteMatcher<Target> | undefined;
  private readonly pages: Target[] = [];

  constructor(
    private readonly discovery: DiscoveryService,
    private readonly scanner: MetadataScanner,
  ) {}

  routes(): Route[] {
    return declaredRoutes(this.discovery, this.scanner).map((route) => ({ ...route, access: accessOf(route.handler) }));
  }

  /** Adds a read-only path that Express serves itself: a page or a file. */
  addPage(path: string): void {
    this.pages.push({ path, method: 'GET', public: true });
  }

  /** The methods that a path supports, for `Allow`; empty for an unknown path. */
  methodsAt(path: string): string[] {
    return this.matchers.methodsAt(path);
  }

  /** The route that answers a request; undefined when there is none. */
  match(method: string, path: string): Target | undefined {
    return this.matchers.match(method, path);
  }

  /** Whether the path is one without parameters that does not support the method. */
  isRefused(method: string, path: string): boolean {
    return this.matchers.isRefused(method, path);
  }

  private get matchers(): RouteMatcher<Target> {
    return (this.matcher ??= new RouteMatcher([
      ...this.routes().map(({ access, ...route }) => ({ ...route, public: access?.public === true })),
      ...this.pages,
    ]));
  }
}
