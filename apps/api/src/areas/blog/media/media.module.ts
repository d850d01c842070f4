import { Module } from '@nestjs/common';
import { ImageEncoder } from '@app/images';
import { StorageModule } from '@app/storage';
import { HttpModule } from '../../../http/kit.js';
import { ImageUploads } from './image-uploads.js';

@Module({ imports: [HttpModule, StorageModule], providers: [ImageUploads, ImageEncoder], exports: [ImageUploads] })
export class MediaModule {}
