import { Injectable } from '@nestjs/common';
import { DiscoveryService, MetadataScanner } from '@nestjs/core';
import { type DeclaredRoute, declaredRoutes, RouteMatcher } from '@app/routing';
import {
  type Access,
  accessOf,
  type Confirmation,
  confirmationOf,
  type NavigationEntry,
  navigationOf,
} from './access.decorators.js';

/** A route, who may open it, and its entry in the navigation. */
export interface Route extends DeclaredRoute {
  /** undefined if the route declares no access, which denies it. */
  access: Access | undefined;
  /** undefined unless the person has to confirm who they are. */
  confirmation: Confirmation | undefined;
  navigation: NavigationEntry | undefined;
}

/** Every route of the portal, read from its controllers. The navigation and the generated specs are built from it. */
@Injectable()
export class RouteTable {
  private matcher: RouteMatcher<Route> | undefined;
  /** By handler. */
  private pages: Map<object, string | null> | undefined;

  constructor(
    private readonly discovery: DiscoveryService,
    private readonly scanner: MetadataScanner,
  ) {}

  routes(): Route[] {
    return declaredRoutes(this.discovery, this.scanner).map((route) => {
      const { handler, controller } = route;
      const declared = { access: accessOf(handler, controller), confirmation: confirmationOf(handler, controller) };
      return { ...route, ...declared, navigation: navigationOf(handler) };
    });
  }

  /** The path of the page that a form is on: the one that its route names, or else the nearest above it. Null if there is none. */
  pageOf(form: object): string | null {
    this.pages ??= pagesOf(this.routes());
    return this.pages.get(form) ?? null;
  }

  /** The route that answers a request; undefined when there is none. */
  match(method: string, path: string): Route | undefined {
    this.matcher ??= new RouteMatcher(this.routes());
    return this.matcher.match(method, path);
  }
}

/** The page of each handler's form. Compared as declared: `/people/members` is not the page of a person. */
function pagesOf(routes: Route[]): Map<object, string | null> {
  const pages = new Set(routes.filter(({ method }) => method === 'GET').map(({ path }) => path));
  const above = (path: string): string | null =>
    path === '' || pages.has(path) ? path || null : above(path.slice(0, path.lastIndexOf('/')));
  return new Map(routes.map(({ handler, path, confirmation }) => [handler, confirmation?.form ?? above(path)]));
}
