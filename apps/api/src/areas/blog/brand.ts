import { field, kinds } from '../../http/kit.js';

/** One of the two configured brands. */
export const brand: kinds.Kind<string> = {
  schema: { type: 'string', examples: ['primary', 'secondary'] },
  parse: (raw, env) => kinds.oneAmong(env.get('BLOG_BRANDS'), raw),
};

export const Brand = (presence: Parameters<typeof field.bodyField>[1]) => field.bodyField(brand, presence);
