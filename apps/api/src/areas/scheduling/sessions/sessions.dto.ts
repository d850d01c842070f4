import { field } from '../../../http/kit.js';

/** Why a session does not take place. */
export class CancelSession {
  @field.Text({ min: 1, max: 500 }, { nullable: true, description: 'For the organization’s own records.' })
  reason?: string | null;
}
