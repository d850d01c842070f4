import { field } from '../../http/kit.js';

/** Why something that was recorded did not happen. */
export class TakeBack {
  @field.Text({ min: 1, max: 500 }, { required: true, description: 'For the organization’s own records.' })
  reason: string;
}
