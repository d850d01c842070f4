import { createParamDecorator, type ExecutionContext, SetMetadata } from '@nestjs/common';
import type { Request } from 'express';
import type { ActingPerson } from '@app/audit';
import type { Membership, SignedIn } from './sessions.js';

/** Who may open a page. `probe`: everybody, without a look-up of the session; `managers`: owners and admins of the path's organization. */
export type Access = 'probe' | 'public' | 'signed-in' | 'managers';

const ACCESS = 'portal:access';
const NAVIGATION = 'portal:navigation';

export const Probe = () => SetMetadata(ACCESS, 'probe' satisfies Access);
export const Public = () => SetMetadata(ACCESS, 'public' satisfies Access);
export const ForSignedIn = () => SetMetadata(ACCESS, 'signed-in' satisfies Access);
export const ForManagers = () => SetMetadata(ACCESS, 'managers' satisfies Access);

/** The access that a handler declares; undefined when it declares none, which denies everybody. */
export function accessOf(handler: object): Access | undefined {
  return Reflect.getMetadata(ACCESS, handler) as Access | undefined;
}

/** The entry of an organization's area in its navigation. */
export interface NavigationEntry {
  label: string;
  /** A description for the overview. */
  summary: string;
  order: number;
}

/** Lists the page in the navigation of the organization. For the first page of an area. */
export const InNavigation = (entry: NavigationEntry) => SetMetadata(NAVIGATION, entry);

export function navigationOf(handler: object): NavigationEntry | undefined {
  return Reflect.getMetadata(NAVIGATION, handler) as NavigationEntry | undefined;
}

const requestOf = (context: ExecutionContext): Request => context.switchToHttp().getRequest<Request>();

/** Who is signed in; null on a public page where nobody is. */
export const Session = createParamDecorator((_: unknown, context: ExecutionContext): SignedIn | null => {
  return requestOf(context).session ?? null;
});

/** The organization of the path, whose owner or admin is signed in. */
export const Organization = createParamDecorator((_: unknown, context: ExecutionContext): Membership => {
  return requestOf(context).membership!;
});

/** The actor of a change: the person who is signed in, in this request. Not on a public page. */
export const By = createParamDecorator((_: unknown, context: ExecutionContext): ActingPerson => {
  const { session, id } = requestOf(context);
  return { userId: session!.userId, requestId: id };
});
