import { Injectable, RequestMethod, type Type } from '@nestjs/common';
import { METHOD_METADATA, PATH_METADATA } from '@nestjs/common/constants.js';
import { DiscoveryService, MetadataScanner } from '@nestjs/core';
import { type Access, accessOf, type NavigationEntry, navigationOf } from './access.decorators.js';

/** One route as its controller declares it. */
export interface Route {
  method: string;
  /** As Express writes it: `/o/:slug/keys`. */
  path: string;
  /** Undefined when the route declares none: then nobody may. */
  access: Access | undefined;
  navigation: NavigationEntry | undefined;
}

/** Every route of the portal, read from its controllers. Navigation and the sweeping specs are made from it. */
@Injectable()
export class RouteTable {
  constructor(
    private readonly discovery: DiscoveryService,
    private readonly scanner: MetadataScanner,
  ) {}

  routes(): Route[] {
    return this.discovery.getControllers().flatMap(({ metatype }) => {
      const prototype = (metatype as Type).prototype as Record<string, () => unknown>;
      return this.scanner.getAllMethodNames(prototype).flatMap((name) => {
        const handler = prototype[name]!;
        const method = Reflect.getMetadata(METHOD_METADATA, handler) as RequestMethod | undefined;
        if (method === undefined) return [];
        const parts = [metatype as Type, handler].map((part) => Reflect.getMetadata(PATH_METADATA, part) as string);
        const path = `/${parts
          .flatMap((part) => part.split('/'))
          .filter(Boolean)
          .join('/')}`;
        return [{ method: RequestMethod[method], path, access: accessOf(handler), navigation: navigationOf(handler) }];
      });
    });
  }
}
