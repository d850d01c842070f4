import { Module } from '@nestjs/common';
import { StorageModule } from '@app/storage';
import { Papers } from './papers.js';
import { Renderer } from './renderer.js';

@Module({ imports: [StorageModule], providers: [Papers, Renderer], exports: [Papers] })
export class PapersModule {}
