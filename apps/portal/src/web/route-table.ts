import { Injectable } from '@nestjs/common';
import { DiscoveryService, MetadataScanner } from '@nestjs/core';
import { type DeclaredRoute, declaredRoutes, RouteMatcher } from '@app/routing';
import { type Access, accessOf, type NavigationEntry, navigationOf } from './access.decorators.js';

/** A route, who may open it, and its entry in the navigation. */
export interface Route extends DeclaredRoute {
  /** undefined if the route declares no access, which denies it. */
  access: Access | undefined;
  navigation: NavigationEntry | undefined;
}

/** Every route of the portal, read from its controllers. The navigation and the generated specs are built from it. */
@Injectable()
export class RouteTable {
  private matcher: RouteMatcher<Route> | undefined;

  constructor(
    private readonly discovery: DiscoveryService,
    private readonly scanner: MetadataScanner,
  ) {}

  routes(): Route[] {
    return declaredRoutes(this.discovery, this.scanner).map((route) => {
      return { ...route, access: accessOf(route.handler, route.controller), navigation: navigationOf(route.handler) };
    });
  }

  /** The route that answers a request; undefined when there is none. */
  match(method: string, path: string): Route | undefined {
    this.matcher ??= new RouteMatcher(this.routes());
    return this.matcher.match(method, path);
  }
}
