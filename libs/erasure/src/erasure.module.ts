import { Module } from '@nestjs/common';
import { AuditModule } from '@app/audit';
import { StorageModule } from '@app/storage';
import { ErasedList } from './erased-list.js';
import { Erasure } from './erasure.js';

@Module({ imports: [AuditModule, StorageModule], providers: [ErasedList, Erasure], exports: [ErasedList, Erasure] })
export class ErasureModule {}
