import type { IncomingMessage } from 'node:http';
import { RequestMethod, type Type } from '@nestjs/common';
import { METHOD_METADATA, PATH_METADATA } from '@nestjs/common/constants.js';
import type { DiscoveryService, MetadataScanner } from '@nestjs/core';

/** One route as its controller declares it. */
export interface DeclaredRoute {
  method: string;
  /** As Express writes it: `/v1/tutors/:tutor_id/reviews`. */
  path: string;
  controller: Type;
  handler: (...args: never[]) => unknown;
}

/** Every route of the running application, read from its controllers. */
export function declaredRoutes(discovery: DiscoveryService, scanner: MetadataScanner): DeclaredRoute[] {
  return discovery.getControllers().flatMap(({ metatype }) => {
    const controller = metatype as Type;
    const prototype = controller.prototype as Record<string, DeclaredRoute['handler']>;
    return scanner.getAllMethodNames(prototype).flatMap((name) => {
      const handler = prototype[name]!;
      const method = Reflect.getMetadata(METHOD_METADATA, handler) as RequestMethod | undefined;
      if (method === undefined) return [];
      const parts = [controller, handler].map((part) => Reflect.getMetadata(PATH_METADATA, part) as string);
      const path = `/${parts
        .map((part) => part.replace(/^\/|\/$/g, ''))
        .filter(Boolean)
        .join('/')}`;
      return [{ method: RequestMethod[method], path, controller, handler }];
    });
  });
}

/** Finds the route of a path without Express. */
export class RouteMatcher<Route extends { method: string; path: string }> {
  private readonly literal: Map<string, Map<string, Route>>;
  private readonly places: { pattern: RegExp; routes: Map<string, Route> }[];

  constructor(routes: Route[]) {
    const byPath = new Map<string, Map<string, Route>>();
    for (const route of routes) {
      const own = byPath.get(route.path) ?? new Map<string, Route>();
      own.set(route.method, route);
      if (route.method === 'GET') own.set('HEAD', route);
      byPath.set(route.path, own);
    }
    this.literal = new Map([...byPath].filter(([path]) => !path.includes(':')));
    // The path with fewer parameters wins.
    this.places = [...byPath]
      .filter(([path]) => !this.literal.has(path))
      .sort(([a], [b]) => a.split(':').length - b.split(':').length)
      .map(([path, own]) => ({ pattern: patternOf(path), routes: own }));
  }

  /** The methods that a path supports; empty for an unknown path. */
  methodsAt(path: string): string[] {
    return [...(this.at(path)?.keys() ?? [])].sort();
  }

  /** The route that answers a request; undefined when there is none. */
  match(method: string, path: string): Route | undefined {
    const route = this.at(path)?.get(method);
    return route && isReadable(path) ? route : undefined;
  }

  /**
   * Whether the path is one without parameters that does not support the method. Express does not ask: it would take
   * the path's last segment for the id of another route.
   */
  isRefused(method: string, path: string): boolean {
    return this.literal.get(path)?.has(method) === false;
  }

  private at(path: string): Map<string, Route> | undefined {
    return this.literal.get(path) ?? this.places.find(({ pattern }) => pattern.test(path))?.routes;
  }
}

/** Express finds no route for a path that cannot be decoded. */
function isReadable(path: string): boolean {
  try {
    decodeURIComponent(path);
    return true;
  } catch {
    return false;
  }
}

function patternOf(path: string): RegExp {
  return new RegExp(`^${path.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&').replaceAll(/:[^/]+/g, '[^/]+')}$`);
}

/** The path of a request, without its query string. */
export function pathOf({ url = '' }: IncomingMessage): string {
  const query = url.indexOf('?');
  return query < 0 ? url : url.slice(0, query);
}
