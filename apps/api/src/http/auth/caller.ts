import { grants } from '@app/accounts';
import type { Tenant } from '@app/database';

/** Who is asking: one API key of one organization. */
export interface Caller extends Tenant {
  keyId: string;
  scopes: ReadonlySet<string>;
  platformBlog: boolean;
  /** The path of the request's route, such as `/v1/tutors/:tutor_id/reviews`. */
  route: string;
  organization: { name: string; slug: string; timeZone: string; currency: string };
}

/** Whether codes that let people in are shown to the caller: reading them is as good as inviting. */
export const seesCodes = ({ scopes }: Caller): boolean => scopes.has('read') && grants(scopes, 'accounts:write');

declare module 'express-serve-static-core' {
  interface Request {
    caller?: Caller;
  }
}
