export { type PostState, type PostStatus, Publishing } from './publishing.js';
export { PublishingModule } from './publishing.module.js';
