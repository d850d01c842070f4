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

declare module 'express-serve-static-core' {
  interface Request {
    caller?: Caller;
  }
}
