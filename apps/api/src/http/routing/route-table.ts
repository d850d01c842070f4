import { Injectable, RequestMethod, type Type } from '@nestjs/common';
import { METHOD_METADATA, PATH_METADATA } from '@nestjs/common/constants.js';
import { DiscoveryService, MetadataScanner } from '@nestjs/core';
import { type Access, accessOf } from '../auth/access.decorators.js';

/** One route as its controller declares it. */
export interface Route {
  method: string;
  /** As Express writes it: `/v1/tutors/:tutor_id/reviews`. */
  path: string;
  controller: Type;
  handler: (...args: never[]) => unknown;
  /** Undefined when the route declares no access; it is denied then. */
  access: Access | undefined;
}

/** Every route of the running application, read from its controllers. The pipeline's specs generate their cases from it. */
@Injectable()
export class RouteTable {
  private matchers: { pattern: RegExp; methods: string[] }[] | undefined;
  private readonly pages: string[] = [];

  constructor(
    private readonly discovery: DiscoveryService,
    private readonly scanner: MetadataScanner,
  ) {}

  routes(): Route[] {
    return this.discovery.getControllers().flatMap(({ metatype }) => this.routesOf(metatype as Type));
  }

  /** Adds a read-only path that Express serves itself: a page or a file. */
  addPage(path: string): void {
    this.pages.push(path);
  }

  /** The methods that a path supports, for `Allow`; empty for an unknown path. */
  methodsAt(path: string): string[] {
    this.matchers ??= this.buildMatchers();
    return this.matchers.find(({ pattern }) => pattern.test(path))?.methods ?? [];
  }

  private routesOf(controller: Type): Route[] {
    const prototype = controller.prototype as Record<string, Route['handler']>;
    return this.scanner.getAllMethodNames(prototype).flatMap((name) => {
      const handler = prototype[name]!;
      const method = Reflect.getMetadata(METHOD_METADATA, handler) as RequestMethod | undefined;
      if (method === undefined) return [];
      const parts = [Reflect.getMetadata(PATH_METADATA, controller), Reflect.getMetadata(PATH_METADATA, handler)];
      const path = `/${(parts as string[])
        .map((part) => part.replace(/^\/|\/$/g, ''))
        .filter(Boolean)
        .join('/')}`;
      return [{ method: RequestMethod[method], path, controller, handler, access: accessOf(handler) }];
    });
  }

  private buildMatchers(): { pattern: RegExp; methods: string[] }[] {
    const byPath = new Map<string, Set<string>>();
    const pages = this.pages.map((path) => ({ path, method: 'GET' }));
    for (const { path, method } of [...this.routes(), ...pages]) {
      const methods = byPath.get(path) ?? new Set();
      methods.add(method);
      if (method === 'GET') methods.add('HEAD');
      byPath.set(path, methods);
    }
    return (
      [...byPath]
        // A literal segment wins over a parameter, as it does in the router.
        .sort(([a], [b]) => a.split(':').length - b.split(':').length)
        .map(([path, methods]) => ({
          pattern: new RegExp(`^${path.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&').replaceAll(/:[^/]+/g, '[^/]+')}$`),
          methods: [...methods].sort(),
        }))
    );
  }
}
