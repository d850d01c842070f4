import { field, kinds } from '../../http/kit.js';

/** One of the two configured brands. */
const brand: kinds.Kind<string> = {
  schema: { type: 'string', examples: ['primary'] },
  parse: (raw, env) => kinds.oneAmong(env.get('BLOG_BRANDS'), raw),
};

export const QueryBrand = (parameter: Parameters<typeof field.queryField>[1]) => field.queryField(brand, parameter);
export const Brand = (presence: Parameters<typeof field.bodyField>[1]) => field.bodyField(brand, presence);
