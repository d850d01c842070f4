import { bodyField, queryField } from '../http/validation/fields.js';
import { type Kind, oneAmong } from '../http/validation/kinds.js';

/** One of the two configured brands. */
const brand: Kind<string> = {
  schema: { type: 'string', examples: ['primary'] },
  parse: (raw, env) => oneAmong(env.get('BLOG_BRANDS'), raw),
};

export const QueryBrand = (parameter: Parameters<typeof queryField>[1]) => queryField(brand, parameter);
export const Brand = (presence: Parameters<typeof bodyField>[1]) => bodyField(brand, presence);
