import { createParamDecorator, type ExecutionContext, SetMetadata } from '@nestjs/common';
import type { Request } from 'express';
import type { ActingPerson } from '@app/audit';
import { networkOf } from '@app/serving';
import { Form } from './form.js';
import type { Membership, SignedIn } from './sessions.js';

/** Who may open a page. `probe`: everybody, without a look-up of the session; the others are of the path's organization. */
export type Access = 'probe' | 'public' | 'signed-in' | keyof typeof BELONGS;

const STAFF: readonly Membership['role'][] = ['owner', 'admin', 'tutor'];

/** Whether somebody manages this organization. */
export const manages = ({ role }: Membership): boolean => role === 'owner' || role === 'admin';

/** Who of an organization may open pages. What they see there is their own, unless they manage it. */
export const BELONGS = {
  managers: manages,
  /** Owners and admins may teach, too. */
  tutors: ({ role }: Membership) => STAFF.includes(role),
  families: ({ role, isParent }: Membership) => role === 'student' || isParent,
  /** Who pays, or is linked with somebody for whom others pay. */
  parents: ({ isParent }: Membership) => isParent,
  members: () => true,
};

const ACCESS = 'portal:access';
const CONFIRMATION = 'portal:confirmation';
const NAVIGATION = 'portal:navigation';

export const Probe = () => SetMetadata(ACCESS, 'probe' satisfies Access);
export const Public = () => SetMetadata(ACCESS, 'public' satisfies Access);
export const ForSignedIn = () => SetMetadata(ACCESS, 'signed-in' satisfies Access);
export const ForManagers = () => SetMetadata(ACCESS, 'managers' satisfies Access);
export const ForTutors = () => SetMetadata(ACCESS, 'tutors' satisfies Access);
export const ForFamilies = () => SetMetadata(ACCESS, 'families' satisfies Access);
export const ForParents = () => SetMetadata(ACCESS, 'parents' satisfies Access);
export const ForMembers = () => SetMetadata(ACCESS, 'members' satisfies Access);

/** The access that a handler or else its controller declares; undefined when neither does, which denies everybody. */
export function accessOf(handler: object, controller: object): Access | undefined {
  return (Reflect.getMetadata(ACCESS, handler) ?? Reflect.getMetadata(ACCESS, controller)) as Access | undefined;
}

/** Where the person returns to from the page that asks for a password or passkey. */
export interface Confirmation {
  /** The path of the form's page; null if it is the nearest page above the route. */
  form: string | null;
}

/**
 * The cookie alone does not open the page or send the form: the person must have signed in or shown a password or passkey within the last 15
 * minutes, or is asked to. @param form the path of the form's page, such as `/o/:slug/keys/new`, unless it is the nearest page above the route
 */
export const ConfirmIdentity = (form: string | null = null) =>
  SetMetadata(CONFIRMATION, { form } satisfies Confirmation);

/** What a handler or else its controller declares with {@link ConfirmIdentity}. */
export function confirmationOf(handler: object, controller: object): Confirmation | undefined {
  return (Reflect.getMetadata(CONFIRMATION, handler) ?? Reflect.getMetadata(CONFIRMATION, controller)) as
    Confirmation | undefined;
}

/** The areas of an organization, in their order. */
export const AREAS = [
  ...(['Home', 'Lessons', 'Learning', 'People', 'Money', 'Enquiries', 'Inbox', 'Settings', 'Developers'] as const),
  // Of somebody's own pages.
  ...(['Pay', 'Claims', 'Hours'] as const),
];

/** A page of an area. If an area has several, each is a tab. */
export interface NavigationEntry {
  area: (typeof AREAS)[number];
  /** The tab's label. */
  label: string;
  order: number;
}

/** Lists the page in the navigation: that of managers for a path such as `/o/:slug/keys`, that of own pages for one such as `/my/:slug/pay`. @param label the area's, unless it says otherwise */
export const InNavigation = (area: NavigationEntry['area'], label: string = area, order = 0) =>
  SetMetadata(NAVIGATION, { area, label, order } satisfies NavigationEntry);

export function navigationOf(handler: object): NavigationEntry | undefined {
  return Reflect.getMetadata(NAVIGATION, handler) as NavigationEntry | undefined;
}

const requestOf = (context: ExecutionContext): Request => context.switchToHttp().getRequest<Request>();

/** Who is signed in; null on a public page where nobody is. */
export const Session = createParamDecorator((_: unknown, context: ExecutionContext): SignedIn | null => {
  return requestOf(context).session ?? null;
});

/** The actor of a change: the person who is signed in, in this request. Not on a public page. */
export const By = createParamDecorator((_: unknown, context: ExecutionContext) => actorOf(requestOf(context)));

/** What a page of an organization works with: the organization of the path, who acts, and the form if one was sent. */
export interface Managed extends Membership {
  by: ActingPerson;
  form: Form;
  request: Request;
}

/** `@Managing() { organizationId, by, form }: Managed`. */
export const Managing = createParamDecorator((_: unknown, context: ExecutionContext): Managed => {
  const request = requestOf(context);
  return { ...request.membership!, by: actorOf(request), form: new Form(request.body), request };
});

/** Only a manager's network is recorded; see {@link ActingPerson}. */
function actorOf({ session, id, membership, ip }: Request): ActingPerson {
  return { userId: session!.userId, requestId: id, network: membership && manages(membership) ? networkOf(ip) : null };
}
