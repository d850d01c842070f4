import { Module } from '@nestjs/common';
import { StorageModule } from '@app/storage';
import { HttpModule } from '../../../http/kit.js';
import { ImageUploads } from './image-uploads.js';
import { ImageEncoder } from './images/image-encoder.js';

@Module({ imports: [HttpModule, StorageModule], providers: [ImageUploads, ImageEncoder], exports: [ImageUploads] })
export class MediaModule {}
