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

interface Matcher {
  path: string;
  pattern: RegExp;
  methods: string[];
  public: boolean;
}

/** Every route of the running application, read from its controllers. The pipeline's specs generate their cases from it. */
@Injectable()
export class RouteTable {
  private matchers: Matcher[] | undefined;
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
    return this.matcherAt(path)?.methods ?? [];
  }

  /** The template of the route that answers a request, and whether it is open to everybody; undefined when there is none. */
  match(method: string, path: string): { path: string; public: boolean } | undefined {
    const matcher = this.matcherAt(path);
    return matcher?.methods.includes(method) && isReadable(path) ? matcher : undefined;
  }

  private matcherAt(path: string): Matcher | undefined {
    this.matchers ??= this.buildMatchers();
    return this.matchers.find(({ pattern }) => pattern.test(path));
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

  private buildMatchers(): Matcher[] {
    const byPath = new Map<string, Matcher>();
    const pages = this.pages.map((path) => ({ path, method: 'GET', access: { public: true } }));
    for (const { path, method, access } of [...this.routes(), ...pages]) {
      const matcher = byPath.get(path) ?? {
        path,
        pattern: patternOf(path),
        methods: [],
        public: access?.public ?? false,
      };
      matcher.methods.push(method, ...(method === 'GET' ? ['HEAD'] : []));
      byPath.set(path, matcher);
    }
    for (const { methods } of byPath.values()) methods.sort();
    // A literal segment wins over a parameter, as it does in the router.
    return [...byPath.values()].sort((a, b) => a.path.split(':').length - b.path.split(':').length);
  }
}

/** Express finds no route for a path that does not decode. */
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
