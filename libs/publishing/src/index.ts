export {
  type BuildHook,
  BuildHooks,
  type Delivery,
  type HookSite,
  siteOf,
  siteOfBrand,
  withoutPath,
} from './build-hooks.js';
export { type PostState, type PostStatus, Publishing } from './publishing.js';
export { PublishingModule } from './publishing.module.js';
